"""Text in, text out: the public Python interface.

from translator import Translator
Translator.load("checkpoints/pocket").translate(["A dog runs ."], beam_size=5)[0].text
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from translator.alignment.links import Alignment, Side, drop_last_column, extract, extract_words
from translator.alignment.reading import Reading, choose_reading
from translator.attention.multihead import CrossAttention
from translator.bundle import Bundle, load_bundle
from translator.data.padding import length_batches, pad
from translator.data.tokenizer import Tokenizer
from translator.decoding.beam import beam_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.sampling import sample
from translator.decoding.search import Searchable, SearchRules
from translator.device import choose_device
from translator.errors import UserError
from translator.inference import teacher_forcing
from translator.inference.engine.prepare import freeze, prepare
from translator.inference.joining import Translation, align_part, blank, join, translation_of
from translator.inference.options import EXTRA_PIECES, TranslateOptions
from translator.inference.segmentation import Part, line_parts
from translator.model.transformer import Transformer

__all__ = ["Translation", "Translator"]

log = logging.getLogger(__name__)

#: Source pieces that go through a model at once, where its positions set no limit.
DEFAULT_INPUT_LENGTH = 512


class Translator:
    """A model and its tokenizer, ready to translate, score and align.

    Nothing is random unless sampling is asked for, and the model's training mode is restored after each call.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, reading: Reading | None = None) -> None:
        model.config.check_translates()
        self.model, self.tokenizer = model, tokenizer
        #: Where alignments are read if the user does not say; a bundle may store the best place.
        self.reading = reading
        #: What a search starts with and steps with.
        self.searched: Searchable = model

    @classmethod
    def load(
        cls,
        directory: str | PathLike[str],
        device: str = "auto",
        precision: str = "float32",
        threads: int | None = None,
    ) -> "Translator":
        """Read a bundle and place it on a device: auto, cpu or cuda; float32, bf16, fp16 (GPU only) or int8 (CPU only).

        Raises:
            UserError: the bundle is missing or damaged, or the device or precision is not to be had here.
        """
        where = choose_device(device, precision, threads)
        bundle = load_bundle(Path(directory))
        prepare(bundle.model, precision, *where)
        return cls._of(bundle)

    @classmethod
    def load_frozen(
        cls,
        directory: str | PathLike[str],
        device: str = "auto",
        precision: str = "float32",
        threads: int | None = None,
    ) -> "Translator":
        """As `load`, for a model that nobody changes afterwards: its products are joined and its searches recorded.

        Results are the same but for rounding in bf16, sooner: those of single sentences in half the time.
        """
        where = choose_device(device, precision, threads)
        bundle = load_bundle(Path(directory))
        translator = cls._of(bundle)
        translator.searched = freeze(bundle.model, precision, *where)
        return translator

    @classmethod
    def _of(cls, bundle: Bundle) -> "Translator":
        return cls(bundle.model, bundle.tokenizer, Reading.from_config(bundle.config.get("alignment")))

    def translate(self, lines: Sequence[str], **options: Any) -> list[Translation]:
        """Translate lines, in order, one for one; the options are those of `TranslateOptions`.

        A blank line gives an empty translation. Translations cut at the length limit are counted in a warning.

        Raises:
            UserError: an option that does not exist or does not fit, or an over-long line with ``on_long="error"``.
        """
        if isinstance(lines, str):
            raise UserError("translate takes a list of lines, not one string: put it in brackets")
        translations = self.translate_lines(lines, TranslateOptions.from_keywords(options))
        warn_of_cuts(sum(not t.finished for t in translations), len(lines))
        return translations

    def translate_lines(
        self, lines: Sequence[str], options: TranslateOptions, first_line: int = 0
    ) -> list[Translation]:
        """Translate with checked options; ``first_line`` is the index of the first line in its stream.

        It names lines in messages and seeds their sampling, so that results do not depend on how a stream is cut.
        """
        reading = self._reading(options)
        limit = self._input_limit(options)
        parts = [
            part
            for index, text in enumerate(lines)
            for part in line_parts(text, index, self.tokenizer, limit, options.on_long, first_line + index + 1)
        ]
        with _evaluating(self.model):
            found = self._search_all(parts, options, first_line)
            candidates = self._candidates(parts, found, options, reading)
        of_line: list[list[list[Translation]]] = [[] for _ in lines]
        for part, of_part in zip(parts, candidates, strict=True):
            of_line[part.line].append(of_part)
        return [join(c, options.subwords) if c else blank(reading is not None) for c in of_line]

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        """Log-probability of each target given its source: a sum over its pieces and the end of sentence.

        A blank target is scored as an empty sentence. Raises UserError where the numbers of lines differ or a line
        is longer than the model's positions.
        """
        source_ids, target_ids = self._pairs(sources, targets)
        with _evaluating(self.model):
            return teacher_forcing.log_probs(self.model, source_ids, target_ids)

    def align(self, sources: Sequence[str], targets: Sequence[str], **options: Any) -> list[Alignment]:
        """Links between given sources and targets (teacher forcing); none where a side is blank.

        Options: ``alignments`` ("hard" by default, "soft" or a threshold), ``align_layer``, ``align_heads``,
        ``align_step``, ``subwords``. Raises UserError as `score` does.
        """
        chosen = TranslateOptions.from_keywords({"alignments": "hard", **options})
        reading, mode = self._reading(chosen), chosen.alignments
        if reading is None or mode is None:
            raise UserError("alignments must say how: hard, soft or a number between 0 and 1")
        source_ids, target_ids = self._pairs(sources, targets)
        with _evaluating(self.model):
            found = teacher_forcing.cross_attention(self.model, source_ids, target_ids, reading)
        units = [drop_last_column(matrix) for matrix in found]
        if chosen.subwords:
            return [extract(matrix, mode) for matrix in units]
        sides = map(self.side, sources), map(self.side, targets)
        return [extract_words(matrix, s, t, mode) for matrix, s, t in zip(units, *sides, strict=True)]

    def side(self, line: str) -> Side:
        """Where the pieces of a line belong, for links between its words."""
        ids, words = self.tokenizer.encode_with_words(line)
        return Side(words, self.tokenizer.lettered(ids))

    def default_reading(self) -> Reading:
        """Where alignments are read if the user does not say: the bundle's best, or all heads of all layers."""
        return choose_reading(self.cross_heads(), None, None, self.reading)

    def cross_attention(self, sources: Sequence[str], targets: Sequence[str]) -> list[list[torch.Tensor]]:
        """What `align` reads from: of each pair a tensor (H, T + 1, S + 1) a decoder layer, in pieces.

        Rows are steps (`translator.alignment.steps.at_step`); the last column is the end of sentence. Raises UserError
        as `score` does.
        """
        source_ids, target_ids = self._pairs(sources, targets)
        with _evaluating(self.model):
            return teacher_forcing.all_cross_attention(self.model, source_ids, target_ids)

    def _pairs(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Ids of both sides, checked."""
        if len(sources) != len(targets):
            raise UserError(f"{len(sources)} sources but {len(targets)} targets: lines must belong together")
        limit = self._positions()
        sides = [[self.tokenizer.encode(text) for text in side] for side in (sources, targets)]
        for name, side in zip(("source", "target"), sides, strict=True):
            for number, ids in enumerate(side, 1):
                if limit is not None and len(ids) + 1 > limit:
                    raise UserError(f"{name} line {number} has {len(ids)} pieces; the model takes {limit - 1}")
        return sides[0], sides[1]

    def _reading(self, options: TranslateOptions) -> Reading | None:
        if options.alignments is None:
            return None
        wanted = (options.align_layer, options.align_heads, self.reading, options.align_step)
        return choose_reading(self.cross_heads(), *wanted)

    def cross_heads(self) -> list[int]:
        """Heads of cross-attention of each decoder layer."""
        return [m.n_heads for m in self.model.decoder.modules() if isinstance(m, CrossAttention)]

    def _positions(self) -> int | None:
        """The longest sequence, end of sentence included, where positions have an end."""
        config = self.model.config
        return config.max_positions if config.positions == "learned" else None

    def _input_limit(self, options: TranslateOptions) -> int:
        positions, asked = self._positions(), options.max_input_length
        if positions is None:
            return asked or DEFAULT_INPUT_LENGTH
        if asked is not None and asked > positions - 1:
            raise UserError(f"max_input_length ({asked}) is more than the model's positions allow ({positions - 1})")
        return asked or positions - 1

    def _output_limit(self, source_pieces: int, options: TranslateOptions) -> int:
        limit = int(options.max_length_ratio * source_pieces) + EXTRA_PIECES
        return min(limit, options.max_length or limit, self._positions() or limit)

    def _search_all(self, parts: list[Part], options: TranslateOptions, first: int) -> list[list[Hypothesis]]:
        rows = options.n_best if options.sample else options.beam_size
        found: list[list[Hypothesis]] = [[] for _ in parts]
        for batch in length_batches([(len(part.ids) + 1) * rows for part in parts], options.batch_tokens):
            results = self._search([parts[i] for i in batch], options, first)
            for index, hypotheses in zip(batch, results, strict=True):
                found[index] = hypotheses
        return found

    def _search(self, parts: list[Part], options: TranslateOptions, first: int) -> list[list[Hypothesis]]:
        config, device = self.model.config, next(self.model.parameters()).device
        source, valid = pad([[*part.ids, config.eos_id] for part in parts], config.pad_id, device)
        limits = torch.tensor([self._output_limit(len(p.ids), options) for p in parts], device=device)
        banned = (config.unk_id,)
        rules = SearchRules(config.bos_id, config.eos_id, options.length_penalty, banned, options.no_repeat_ngram)
        step, state = self.searched.step, self.searched.start(source, valid)
        if options.sample:
            return sample(
                step, state, limits, rules, seeds=[_seed(options.seed, first + p.line, p.start) for p in parts],
                n_best=options.n_best, temperature=options.temperature, top_k=options.top_k, top_p=options.top_p,
            )  # fmt: skip
        return beam_search(step, state, limits, rules, beam_size=options.beam_size, n_best=options.n_best)

    def _candidates(
        self, parts: list[Part], found: list[list[Hypothesis]], options: TranslateOptions, reading: Reading | None
    ) -> list[list[Translation]]:
        """The hypotheses of each part as text, with links from a second, teacher-forced pass if they are wanted."""
        pairs = [(part, hypothesis) for part, of_part in zip(parts, found, strict=True) for hypothesis in of_part]
        links: list[Alignment | None] = [None] * len(pairs)
        if reading is not None and options.alignments is not None:
            sources, targets = [part.ids for part, _ in pairs], [hypothesis.ids for _, hypothesis in pairs]
            matrices = teacher_forcing.cross_attention(self.model, sources, targets, reading)
            links = [
                align_part(part, hypothesis, matrix, self.tokenizer, options.alignments, options.subwords)
                for (part, hypothesis), matrix in zip(pairs, matrices, strict=True)
            ]
        written = (
            translation_of(hypothesis, self.tokenizer, alignment)
            for (_, hypothesis), alignment in zip(pairs, links, strict=True)
        )
        return [[next(written) for _ in of_part] for of_part in found]


def _seed(seed: int, line: int, start: int) -> int:
    """A seed of its own for every part of every line."""
    return ((seed << 40) + line << 24) + start


def warn_of_cuts(cut: int, lines: int) -> None:
    """Say how many translations ended at the length limit, if any did."""
    if cut:
        log.warning(
            "%d of %d translations were cut at the length limit; "
            "--max-length-ratio and --max-length raise it (scores of cut ones leave out the end of sentence)",
            cut,
            lines,
        )


@contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    """Without dropout and without gradients; afterwards the model is in the mode it was in."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(training)
