"""How to translate: every choice a user has, checked before anything heavy is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from translator.alignment.steps import ALIGN_STEPS
from translator.errors import UserError, at_least, did_you_mean, finite, one_of, positive

ON_LONG = ("split", "crop", "error")
FORMATS = ("text", "tsv", "json")
#: Pieces a generated sentence may always have on top of the ratio: short sentences grow the most.
EXTRA_PIECES = 10


@dataclass(frozen=True)
class TranslateOptions:
    """Search, limits and output of one translation job.

    Lengths are counted in subword pieces. A sentence of S pieces may become at most
    ``max_length_ratio * S + 10`` pieces (end of sentence included), and never more than ``max_length``.

    Raises:
        UserError: a value is out of its range, or two choices contradict each other.
    """

    beam_size: int = 5
    n_best: int = 1
    length_penalty: float = 1.0  # score = sum log p / length^A, length counts the end of sentence
    sample: bool = False
    top_k: int = 0  # 0: all
    top_p: float = 1.0
    temperature: float = 1.0
    seed: int = 0
    max_length_ratio: float = 2.0
    max_length: int | None = None
    max_input_length: int | None = None  # None: what training saw, else what the model can take, or 512
    on_long: str = "split"
    document: bool = False  # lines are paragraphs: translate sentence by sentence
    no_repeat_ngram: int = 0
    alignments: str | float | None = None  # None, "hard", "soft" or the least weight of a link
    align_layer: int | None = None
    align_heads: str | tuple[int, ...] | None = None  # None: as the bundle says, else the mean
    align_step: str | None = None  # "output" or "input"; None: as the bundle says, else "output"
    subwords: bool = False
    batch_tokens: int = 8192  # rows (sentences * beams) times the padded source length

    @classmethod
    def from_keywords(cls, options: Mapping[str, Any]) -> "TranslateOptions":
        """Build from keyword arguments, refusing names that do not exist."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise UserError(f"there is no option {name!r} for translating{did_you_mean(name, known)}")
        return cls(**options)

    def __post_init__(self) -> None:
        self._check_search()
        self._check_sampling()
        self._check_limits()
        self._check_alignments()

    def _check_search(self) -> None:
        at_least("beam_size", self.beam_size, 1)
        at_least("n_best", self.n_best, 1)
        at_least("no_repeat_ngram", self.no_repeat_ngram, 0)
        finite("length_penalty", self.length_penalty)
        if abs(self.length_penalty) > 10:
            raise UserError(f"length_penalty must be between -10 and 10, not {self.length_penalty}")
        if self.n_best > self.beam_size and not self.sample:
            raise UserError(
                f"n_best ({self.n_best}) is more than beam_size ({self.beam_size}): ask for fewer, or search wider"
            )

    def _check_sampling(self) -> None:
        at_least("top_k", self.top_k, 0)
        finite("top_p", self.top_p)
        if not 0.0 < self.top_p <= 1.0:
            raise UserError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        positive("temperature", self.temperature)
        at_least("seed", self.seed, 0)
        if self.sample:
            return
        if self.top_k != 0 or self.top_p != 1.0 or self.temperature != 1.0:
            raise UserError("top_k, top_p and temperature need sampling: add sample (--sample)")

    def _check_limits(self) -> None:
        positive("max_length_ratio", self.max_length_ratio)
        at_least("batch_tokens", self.batch_tokens, 1)
        if self.max_length is not None:
            at_least("max_length", self.max_length, 1)
        if self.max_input_length is not None:
            at_least("max_input_length", self.max_input_length, 1)
        one_of("on_long", self.on_long, ON_LONG)

    def _check_alignments(self) -> None:
        chosen = (self.align_layer, self.align_heads, self.align_step, self.subwords)
        if self.alignments is None and chosen != (None, None, None, False):
            raise UserError("align_layer, align_heads, align_step and subwords need alignments: add --alignments")
        if isinstance(self.alignments, str):
            one_of("alignments", self.alignments, ("hard", "soft"), " or a number between 0 and 1")
        elif self.alignments is not None and not 0.0 < self.alignments <= 1.0:
            raise UserError(f"an alignment threshold must be above 0 and at most 1, not {self.alignments}")
        if isinstance(self.align_heads, str):
            one_of("align_heads", self.align_heads, ("mean", "best"), " or head numbers such as 0,3")
        elif self.align_heads is not None and not self.align_heads:
            raise UserError("align_heads names no head: give numbers such as 0,3, or mean")
        if self.align_layer is not None:
            at_least("align_layer", self.align_layer, 0)
        if self.align_step is not None:
            one_of("align_step", self.align_step, ALIGN_STEPS)
