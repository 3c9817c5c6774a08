"""Text to subword ids and back, by SentencePiece (Kudo and Richardson, 1808.06226), and how pieces are learned."""

import io
import logging
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, cast

import sentencepiece

from translator.data.lines import WORD_MARK
from translator.data.normalization import FORMS, normalize, single_spaced, visible
from translator.data.subword_sampling import SubwordSampler
from translator.errors import UserError, one_of

logger = logging.getLogger("translator")

USER_WORD = re.compile("[^ \t]+")
KINDS = ("bpe", "unigram")
SPECIAL_IDS: dict[str, Any] = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
RESERVED = "\u2585"  # the trainer's internal sign; it skips every sentence with this character
LONG_LINE = 4000  # bytes; the trainer skips sentences over 4192
LONG_WORD = 1000  # characters, so at most 4000 bytes
TOO_SMALL = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")


class Tokenizer:
    """A SentencePiece model behind our own normalisation. Deterministic, except where a random state is passed in.

    `normalization` is "nfc" (composed and decomposed accents are one), "nfkc" (also rewrites ², ½, ﬁ, …) or "none".
    A model without a padding piece, as the library makes by default, gets the id after its last piece for padding:
    `vocab_size` counts it, so the translation model simply has one more row.
    """

    def __init__(self, model: bytes, normalization: str = "nfc"):
        one_of("normalization", normalization, FORMS)
        self.normalization = normalization
        self._sp = sentencepiece.SentencePieceProcessor()
        self._sp.LoadFromSerializedProto(model)
        self.unk_id: int = self._sp.unk_id()
        self.bos_id: int = self._sp.bos_id()
        self.eos_id: int = self._sp.eos_id()
        self._size: int = self._sp.vocab_size()
        self.pad_id: int = self._sp.pad_id() if self._sp.pad_id() >= 0 else self._size
        self.vocab_size: int = max(self._size, self.pad_id + 1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_sampler"}  # which is made when needed

    @classmethod
    def load(cls, path: str | PathLike[str], normalization: str = "nfc") -> "Tokenizer":
        """Reads a `tokenizer.model`. Raises UserError for a missing, damaged or unsuitable file."""
        try:
            tokenizer = cls(Path(path).read_bytes(), normalization)
        except OSError as error:
            raise UserError(f"cannot read the tokenizer {path}: {error.strerror}") from error
        except RuntimeError as error:
            raise UserError(f"{path} is damaged or not a SentencePiece model") from error
        for name, index in (("bos", tokenizer.bos_id), ("eos", tokenizer.eos_id)):
            if index < 0:
                raise UserError(f"{path} has no {name} piece; train it with --{name}_id set")
        return tokenizer

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the SentencePiece model, as `load` and every SentencePiece tool read it."""
        Path(path).write_bytes(self._sp.serialized_model_proto())

    def normalize(self, text: str) -> str:
        """The text as the model sees it; see `normalization.normalize`."""
        return normalize(text, self.normalization)

    def encode(self, text: str) -> list[int]:
        """Ids of a line, without bos and eos. Time is linear in its length, also for one endless word.

        Names of control pieces in the text (`</s>`) are plain characters; characters never seen in training give
        unk, a run of them one unk.
        """
        return cast("list[int]", self._sp.encode(self.normalize(text)))

    def encode_sampled(self, text: str, rng: random.Random, strength: float) -> list[int]:
        """Ids of one random segmentation of a line, for training only; all randomness comes from `rng`.

        `strength`: for BPE the probability that a merge is skipped, for unigram the exponent on the probabilities of
        the segmentations; 0 switches sampling off. See `SubwordSampler`.
        """
        return self._sampler.sample(self.normalize(text), rng, strength) if strength else self.encode(text)

    def encode_with_words(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of a line, as `encode` gives them, and for each the index of the word it belongs to.

        Words are those of the line as the user wrote it, separated by spaces and tabs only. A lone word mark belongs
        to the word after it. A word that normalises to nothing owns no piece; one that normalises to several words,
        as with a no-break space inside, owns them all.
        """
        normal = self.normalize(text)
        owners = self._owners(text, normal)
        ids = cast("list[int]", self._sp.encode(normal))
        begun = -1 if self._sp.normalize(normal).startswith(WORD_MARK) else 0  # words begun before this piece, less one
        words: list[int] = []
        for piece in self._sp.encode(normal, out_type=str):
            marks = len(piece) - len(piece.lstrip(WORD_MARK))
            words.append(owners[min(begun + marks, len(owners) - 1)])
            begun += piece.count(WORD_MARK)
        return ids, words

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids: one line, single spaces. Special and unknown pieces and broken byte sequences are left out."""
        raw = bytearray()
        for index in ids:
            if not self._is_text(index):
                continue
            piece = self._sp.id_to_piece(index)
            raw += bytes([int(piece[3:5], 16)]) if self._sp.is_byte(index) else piece.encode()
        return single_spaced(raw.decode("utf-8", "ignore"))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The pieces as they stand in the vocabulary, for display."""
        return [self._sp.id_to_piece(index) if index < self._size else "<pad>" for index in ids]

    def lettered(self, ids: Sequence[int]) -> list[bool]:
        """Whether each piece has a letter or digit (or is unknown, since it may stand for some); others are marks."""
        return [not self._is_text(i) or any(map(str.isalnum, self._sp.id_to_piece(i))) for i in ids]

    def count_altered(self, lines: Iterable[str]) -> int:
        """How many lines lose visible content to normalisation, so that the model can never write them as they are.

        Kinds of white space and canonically equal spellings of a letter do not count as visible.
        """
        return sum(visible(self._inner_text(self.normalize(line))) != visible(line) for line in lines)

    def _is_text(self, index: int) -> bool:
        return index < self._size and not (self._sp.is_control(index) or self._sp.is_unknown(index))

    def _inner_text(self, normal: str) -> str:
        """The text after the SentencePiece model's own rule, its word marks as spaces; ours change nothing here."""
        return cast("str", self._sp.normalize(normal)).replace(WORD_MARK, " ")

    def _owners(self, text: str, normal: str) -> list[int]:
        """For each word that the model sees, the index of the user's word that it comes from; never empty."""
        words = USER_WORD.findall(text)
        if normal == " ".join(words) == self._inner_text(normal).strip():
            return list(range(len(words))) or [0]
        seen = [self._inner_text(self.normalize(word)).split() for word in words]
        # Some models leave a lone word mark of a text that their own rule deletes: it goes to the first word.
        return [index for index, parts in enumerate(seen) for _ in parts] or [0]

    @cached_property
    def _sampler(self) -> SubwordSampler:
        return SubwordSampler(self._sp)


def train_tokenizer(
    lines: Iterable[str],
    path: str | PathLike[str] | None = None,
    *,
    kind: str = "bpe",
    vocab_size: int = 8000,
    character_coverage: float = 1.0,
    byte_fallback: bool = False,
    normalization: str = "nfc",
) -> Tokenizer:
    """Trains on lines of both languages together, saves the model at `path` if one is given, and returns it.

    There is no randomness in it: the same lines give the same pieces.
    Special ids are pad 0, unk 1, bos 2, eos 3. Where the text doesn't hold `vocab_size` different pieces there are as
    many as it does, with a warning: the size that counts is `Tokenizer.vocab_size`.
    Raises UserError for a vocabulary too small for the characters, for an unknown kind, and where there is no text.
    """
    one_of("tokenizer.kind", kind, KINDS)
    if not 0.98 <= character_coverage <= 1:
        raise UserError(f"tokenizer.character_coverage is {character_coverage}; it must be from 0.98 to 1")
    one_of("normalization", normalization, FORMS)
    sentences = list(_sentences(lines, normalization))
    if not sentences:
        raise UserError("there is no text to train a tokenizer on: every line is blank")
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=kind,
            vocab_size=max(vocab_size, len(SPECIAL_IDS)),  # fewer give another message than too few
            hard_vocab_limit=False,
            character_coverage=character_coverage,
            byte_fallback=byte_fallback,
            normalization_rule_name="identity",
            **SPECIAL_IDS,
            minloglevel=2,  # what it would warn of, skipped sentences, can't happen to ours
        )
    except RuntimeError as error:
        if found := TOO_SMALL.search(str(error)):
            raise UserError(
                f"tokenizer.vocab_size={vocab_size} is too small: the characters and special pieces of this text alone "
                f"take {found[1]}, the minimum; raise it, or lower tokenizer.character_coverage"
            ) from error
        raise UserError(f"the tokenizer could not be trained: {error}") from error
    tokenizer = Tokenizer(model.getvalue(), normalization)
    if tokenizer.vocab_size < vocab_size:
        message = "tokenizer.vocab_size=%d is more than this text gives; the vocabulary has %d pieces, the maximum"
        logger.warning(message, vocab_size, tokenizer.vocab_size)
    if path is not None:
        tokenizer.save(path)
    return tokenizer


def _sentences(lines: Iterable[str], normalization: str) -> Iterator[str]:
    """Normalised lines in portions that the trainer takes: it skips long sentences, and with them their letters."""
    for line in lines:
        text = normalize(line.replace(RESERVED, " "), normalization)
        if len(text.encode()) > LONG_LINE:
            for word in text.split():
                yield from (word[start : start + LONG_WORD] for start in range(0, len(word), LONG_WORD))
        elif text:
            yield text
