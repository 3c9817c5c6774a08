"""What a search needs to know of a model: one function, and a state whose rows can be picked."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from torch import Tensor

S = TypeVar("S", bound="State")


class State(Protocol):
    """Whatever a model remembers of the prefixes it has read, one row a prefix."""

    def select(self: S, rows: Tensor) -> S:
        """The state that goes on with other rows.

        rows (B2, N2), int64: line i holds the old row indices that become the rows of the i-th sentence
        kept, in this order. All of a line belong to one sentence; sentences are dropped, never reordered.
        """
        ...


class Searchable(Protocol[S]):
    """A model as a search sees it: where it begins, and how it goes on by one token."""

    def start(self, src_ids: Tensor, src_valid: Tensor) -> S:
        """Source ids (B, S) and their validity (B, S) -> the state before the first token, one row a sentence."""
        ...

    def step(self, last_ids: Tensor, state: S) -> tuple[Tensor, S]:
        """See `Step`."""
        ...


# step(last_ids (R,), state) -> (logits (R, V), state): reads one more token of every row. The logits may be of any
# floating type, and belong to the search from then on: it overwrites those of forbidden tokens in place.
Step = Callable[[Tensor, S], tuple[Tensor, S]]
