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
from translator.data.tokenizer import Tokenizer
from translator.device import choose_device
from translator.errors import UserError
from translator.inference import teacher_forcing
from translator.inference.decoding import decode
from translator.inference.encoding import encode
from translator.inference.engine.prepare import freeze, prepare
from translator.inference.joining import join
from translator.inference.options import TranslateOptions
from translator.inference.search import Search, Searcher, input_limits, position_limit
from translator.inference.segmentation import Limits, segment
from translator.inference.translation import Translation, blank
from translator.model.transformer import Transformer

__all__ = ["Translation", "Translator"]

log = logging.getLogger(__name__)

Directory = str | PathLike[str]


class Translator:
    """A model and its tokenizer, ready to translate, score and align.

    Nothing is random unless sampling is asked for, and the model's training mode is restored after each call.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        reading: Reading | None = None,
        limits: Limits | None = None,
        search: Search | None = None,
    ) -> None:
        """``reading`` and ``limits`` hold if the user does not say otherwise; ``search`` is a quicker way to search.

        Raises UserError for a model that is no translator.
        """
        model.config.check_translates()
        self.model, self.tokenizer = model, tokenizer
        #: Where alignments are read best, and how much training saw at once; None where nobody knows.
        self.reading, self.limits = reading, limits
        self.search: Search = search or Searcher(model, model)

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
        return cls(prepare(bundle.model, precision, *where), bundle.tokenizer, *_stored(bundle))

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
        search = Searcher(bundle.model, freeze(bundle.model, precision, *where))
        return cls(bundle.model, bundle.tokenizer, *_stored(bundle), search)

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
        reading = None if options.alignments is None else self._reading(options)
        limits = input_limits(self.model.config, self.limits, options)
        parts = []
        for index, text in enumerate(lines):
            segments = segment(text, self._count_pieces, limits, options.on_long, first_line + index + 1)
            parts += encode(segments, index, self.tokenizer)
        with _evaluating(self.model):
            found = self.search(parts, options, first_line)
            candidates = decode(parts, found, self.model, self.tokenizer, options, reading)
        of_line: list[list[int]] = [[] for _ in lines]
        for index, part in enumerate(parts):
            of_line[part.line].append(index)
        return [
            join([parts[i] for i in own], [candidates[i] for i in own], options.subwords)
            if own
            else blank(reading is not None)
            for own in of_line
        ]

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
        mode = chosen.alignments
        if mode is None:
            raise UserError("alignments must say how: hard, soft or a number between 0 and 1")
        source_ids, target_ids = self._pairs(sources, targets)
        with _evaluating(self.model):
            found = teacher_forcing.cross_attention(self.model, source_ids, target_ids, self._reading(chosen))
        units = [drop_last_column(matrix) for matrix in found]
        if chosen.subwords:
            return [extract(matrix, mode) for matrix in units]
        sides = map(self.side, sources), map(self.side, targets)
        return [extract_words(matrix, s, t, mode) for matrix, s, t in zip(units, *sides, strict=True)]

    def cross_attention(self, sources: Sequence[str], targets: Sequence[str]) -> list[list[torch.Tensor]]:
        """What `align` reads from: of each pair a tensor (H, T + 1, S + 1) a decoder layer, in pieces.

        Rows are steps (`translator.alignment.steps.at_step`); the last column is the end of sentence. Raises UserError
        as `score` does.
        """
        source_ids, target_ids = self._pairs(sources, targets)
        with _evaluating(self.model):
            return teacher_forcing.all_cross_attention(self.model, source_ids, target_ids)

    def side(self, line: str) -> Side:
        """Where the pieces of a line belong, for links between its words."""
        ids, words = self.tokenizer.encode_with_words(line)
        return Side(words, self.tokenizer.lettered(ids))

    def default_reading(self) -> Reading:
        """Where alignments are read if the user does not say: the bundle's best, or all heads of all layers."""
        return choose_reading(self.cross_heads(), None, None, self.reading)

    def cross_heads(self) -> list[int]:
        """Heads of cross-attention of each decoder layer."""
        return [m.n_heads for m in self.model.decoder.modules() if isinstance(m, CrossAttention)]

    def _reading(self, options: TranslateOptions) -> Reading:
        wanted = (options.align_layer, options.align_heads, self.reading, options.align_step)
        return choose_reading(self.cross_heads(), *wanted)

    def _count_pieces(self, text: str) -> int:
        return len(self.tokenizer.encode(text))

    def _pairs(self, sources: Sequence[str], targets: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Ids of both sides, checked."""
        if len(sources) != len(targets):
            raise UserError(f"{len(sources)} sources but {len(targets)} targets: lines must belong together")
        limit = position_limit(self.model.config)
        sides = [[self.tokenizer.encode(text) for text in side] for side in (sources, targets)]
        for name, side in zip(("source", "target"), sides, strict=True):
            for number, ids in enumerate(side, 1):
                if limit is not None and len(ids) + 1 > limit:
                    raise UserError(f"{name} line {number} has {len(ids)} pieces; the model takes {limit - 1}")
        return sides[0], sides[1]


def _stored(bundle: Bundle) -> tuple[Reading | None, Limits | None]:
    """What a bundle tells beside the model."""
    return Reading.from_config(bundle.config.get("alignment")), Limits.from_config(bundle.config)


def warn_of_cuts(cut: int, lines: int) -> None:
    """Say how many translations ended at the length limit, if any did."""
    if cut:
        log.warning(
            "%d of %d translations were cut at the length limit; "
            "--max-length-ratio and --max-length raise it (scores of cut ones leave out the end of sentence)",
            cut, lines,
        )  # fmt: skip


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
