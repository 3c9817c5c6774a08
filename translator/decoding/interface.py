"""What every search is given: a model's step over states whose rows can be picked, and rules."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch import Tensor

from translator.errors import UserError

S = TypeVar("S", bound="State")

# step(last_ids (R,), state) -> (logits (R, V), state): reads one more token of every row. The logits may be of any
# floating type, and belong to the search from then on: it overwrites those of forbidden tokens in place.
Step = Callable[[Tensor, S], tuple[Tensor, S]]


class State(Protocol):
    """Whatever a model remembers of the prefixes it has read, one row per prefix."""

    def select(self: S, rows: Tensor) -> S:
        """The state that goes on with other rows.

        rows (B2, N2), int64: line i holds the old row indices that become the rows of the i-th sentence kept, in this
        order. All of a line belong to one sentence; sentences are dropped, never reordered.
        """


class Searchable(Protocol[S]):
    """A model as a search sees it: where it begins, and how it goes on by one token."""

    def start(self, src_ids: Tensor, src_valid: Tensor) -> S:
        """Source ids (B, S) and which are real (B, S) -> the state before the first token, one row per sentence."""

    def step(self, last_ids: Tensor, state: S) -> tuple[Tensor, S]:
        """As `Step`."""


@dataclass(frozen=True)
class SearchRules:
    """How outputs begin and end, what their scores make of their length, and what is never produced.

    Raises UserError for a length_penalty beyond all use, whose powers of a length could leave the floats.
    """

    bos_id: int
    eos_id: int
    length_penalty: float = 1.0  # alpha of `hypothesis.length_normalised`
    banned: tuple[int, ...] = ()  # ids
    no_repeat_ngram: int = 0  # n > 0: no output holds an n-gram twice

    def __post_init__(self) -> None:
        if not -10 <= self.length_penalty <= 10:
            raise UserError(f"length_penalty must be between -10 and 10, not {self.length_penalty}")
