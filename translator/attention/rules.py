"""Who may see whom: pure functions of absolute positions.

A rule takes query positions (Q,) and key positions (K,) and returns a boolean matrix (Q, K); True means the
query may attend to the key. Rules look at absolute positions and never at the shape of the tensor at hand, so the
same rule is right for a whole sentence, for one cached step and for a chunk in between.
"""

from collections.abc import Callable

from torch import Tensor

from translator.errors import UserError

Rule = Callable[[Tensor, Tensor], Tensor]


def everywhere(q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """Every query sees every key: the encoder's rule (Vaswani 2017, 3.2.3)."""
    return q_pos.new_ones((len(q_pos), len(k_pos))).bool()


def causal(q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """A query sees itself and what came before it: the decoder's rule (Vaswani 2017, 3.2.3)."""
    return k_pos[None, :] <= q_pos[:, None]


def within(window: int) -> Rule:
    """A query sees keys fewer than ``window`` positions away, itself included (Beltagy 2020, 2004.05150, 3.1).

    Joined with `causal`, the query at position 6 sees positions 3 to 6 when ``window`` is 4.

    Raises:
        UserError: ``window`` is not positive.
    """
    if window <= 0:
        raise UserError(f"attention window must be at least 1, not {window}")

    def rule(q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return (q_pos[:, None] - k_pos[None, :]).abs() < window

    return rule


def both(first: Rule, second: Rule) -> Rule:
    """What both rules allow."""

    def rule(q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return first(q_pos, k_pos) & second(q_pos, k_pos)

    return rule
