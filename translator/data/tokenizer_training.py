"""Learns a tokenizer from raw lines, in process and without temporary files.

There is no randomness in it: the same lines give the same pieces.
"""

import io
import logging
import re
from collections.abc import Iterable, Iterator
from os import PathLike

import sentencepiece

from translator.data.normalization import check_rule, normalize
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError

logger = logging.getLogger("translator")

KINDS = ("bpe", "unigram")
SPECIAL_PIECES = 4
RESERVED = "\u2585"  # the trainer's internal sign; it skips every sentence with this character
LONG_LINE = 4000  # bytes; the trainer skips sentences over 4192
LONG_WORD = 1000  # characters, so at most 4000 bytes
TOO_SMALL = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")


def train_tokenizer(
    lines: Iterable[str],
    path: str | PathLike[str],
    *,
    kind: str = "bpe",
    vocab_size: int = 8000,
    character_coverage: float = 1.0,
    byte_fallback: bool = False,
    normalization: str = "nfc",
) -> Tokenizer:
    """Trains on lines of both languages together, saves the model at `path`, and returns it.

    Special ids are pad 0, unk 1, bos 2, eos 3. Where the text doesn't hold `vocab_size` different pieces there are as
    many as it does, with a warning: the size that counts is `Tokenizer.vocab_size`.
    Raises UserError for a vocabulary too small for the characters, for an unknown kind, and where there is no text.
    """
    if kind not in KINDS:
        raise UserError(f"tokenizer.kind is {kind!r}; it must be one of {', '.join(KINDS)}")
    if not 0.98 <= character_coverage <= 1:
        raise UserError(f"tokenizer.character_coverage is {character_coverage}; it must be from 0.98 to 1")
    check_rule(normalization)
    sentences = list(_sentences(lines, normalization))
    if not sentences:
        raise UserError("there is no text to train a tokenizer on: every line is blank")
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=kind,
            vocab_size=max(vocab_size, SPECIAL_PIECES),  # fewer give another message than too few
            hard_vocab_limit=False,
            character_coverage=character_coverage,
            byte_fallback=byte_fallback,
            normalization_rule_name="identity",
            pad_id=0,
            unk_id=1,
            bos_id=2,
            eos_id=3,
            minloglevel=2,  # what it would warn of, skipped sentences, can't happen to ours
        )
    except RuntimeError as error:
        raise UserError(_explain(error, vocab_size)) from error
    tokenizer = Tokenizer(model.getvalue(), normalization)
    if tokenizer.vocab_size < vocab_size:
        logger.warning(
            "tokenizer.vocab_size=%d is more than this text gives; the vocabulary has %d pieces, the maximum",
            vocab_size,
            tokenizer.vocab_size,
        )
    tokenizer.save(path)
    return tokenizer


def _sentences(lines: Iterable[str], normalization: str) -> Iterator[str]:
    """Normalised lines in portions that the trainer takes: it skips long sentences, and with them their letters."""
    for line in lines:
        text = normalize(line.replace(RESERVED, " "), normalization)
        if len(text.encode()) <= LONG_LINE:
            if text:
                yield text
            continue
        for word in text.split():
            for start in range(0, len(word), LONG_WORD):
                yield word[start : start + LONG_WORD]


def _explain(error: RuntimeError, vocab_size: int) -> str:
    if found := TOO_SMALL.search(str(error)):
        return (
            f"tokenizer.vocab_size={vocab_size} is too small: the characters and special pieces of this text alone "
            f"take {found[1]}, the minimum; raise it, or lower tokenizer.character_coverage"
        )
    return f"the tokenizer could not be trained: {error}"
