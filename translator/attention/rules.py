"""Who may see whom: pure functions of absolute positions.

A rule takes query positions (..., Q) and key positions (..., K) and returns booleans (..., Q, K); True means the
query may attend to the key. Leading dimensions are blocks of a sequence. Rules look at absolute positions and never
at the shape of the tensor at hand, so the same rule is right for a whole sentence, for one cached step and for a chunk
in between.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from translator.errors import at_least

Rule = Callable[[Tensor, Tensor], Tensor]


def everywhere(q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """Every query sees every key: the encoder's rule (Vaswani 2017, 3.2.3)."""
    return torch.ones_like(q_pos[..., :, None] + k_pos[..., None, :], dtype=torch.bool)


def causal(q_pos: Tensor, k_pos: Tensor) -> Tensor:
    """A query sees itself and what came before it: the decoder's rule (Vaswani 2017, 3.2.3)."""
    return k_pos[..., None, :] <= q_pos[..., :, None]


def within(window: int) -> Rule:
    """A query sees keys fewer than ``window`` positions away, itself included (Beltagy 2020, 2004.05150, 3.1).

    Joined with `causal`, the query at position 6 sees positions 3 to 6 when ``window`` is 4.

    Raises UserError where ``window`` is not positive.
    """
    at_least("attention window", window, 1)

    def rule(q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return (q_pos[..., :, None] - k_pos[..., None, :]).abs() < window

    return rule


def strided(stride: int) -> Rule:
    """A query sees keys fewer than ``stride`` positions away, and the last key of every block of ``stride``.

    The last positions of the blocks can sum up what stands before them, so that two layers connect everything
    (Child 2019, 1904.10509, 4.2 and 4.3: the near positions of the strided pattern, the summaries of the fixed one).
    With ``stride`` near sqrt(n), a query sees some sqrt(n) keys.

    Raises UserError where ``stride`` is not positive.
    """
    at_least("attention stride", stride, 1)
    near = within(stride)

    def rule(q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return near(q_pos, k_pos) | (k_pos % stride == stride - 1)[..., None, :]

    return rule


def both(first: Rule, second: Rule) -> Rule:
    """What both rules allow."""

    def rule(q_pos: Tensor, k_pos: Tensor) -> Tensor:
        return first(q_pos, k_pos) & second(q_pos, k_pos)

    return rule


@dataclass(frozen=True)
class View:
    """Where the tensors at hand stand: the positions of the first query and key, and which keys (B, K) are real."""

    q_start: int = 0
    k_start: int = 0
    valid: Tensor | None = None

    def visible(self, rule: Rule, q: Tensor, k: Tensor) -> Tensor | None:
        """The rule over queries (B, H, Q, Dh) and keys (B, H, K, Dh), as a mask for the kernels; None: all is seen."""
        real = None if self.valid is None else self.valid[:, None, None, :]  # (B, 1, 1, K)
        n_queries, n_keys = q.shape[2], k.shape[2]
        if rule is everywhere or (rule is causal and self.k_start + n_keys - 1 <= self.q_start):
            return real  # among them the usual decoding step: one query at the end of its past
        q_pos = torch.arange(self.q_start, self.q_start + n_queries, device=q.device)
        seen = rule(q_pos, torch.arange(self.k_start, self.k_start + n_keys, device=q.device))  # (Q, K)
        return seen if real is None else seen & real
