"""Keys and values kept between decoding steps."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class KV:
    """Projected keys and values (R, G, K, Dh) of R rows, with the absolute position of their first column.

    The position travels with the tensors, so that a rule stays right after old columns have been dropped.
    """

    k: Tensor
    v: Tensor
    start: int = 0

    @property
    def end(self) -> int:
        """The absolute position after the last column."""
        return self.start + self.k.shape[2]

    def positions(self) -> Tensor:
        """Absolute positions of the columns (K,)."""
        return torch.arange(self.start, self.end, device=self.k.device)

    def append(self, k: Tensor, v: Tensor) -> "KV":
        """Add new columns (R, G, n, Dh) at the end."""
        if self.k.shape[2] == 0:
            return KV(k, v, self.start)
        return KV(torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2), self.start)

    def last(self, n: int) -> "KV":
        """Keep the newest ``n`` columns at most."""
        surplus = self.k.shape[2] - n
        if surplus <= 0:
            return self
        return KV(self.k[:, :, surplus:], self.v[:, :, surplus:], self.start + surplus)

    def select(self, rows: Tensor) -> "KV":
        """Keep the given rows (R2,), in that order; a row may be taken more than once."""
        return KV(self.k.index_select(0, rows), self.v.index_select(0, rows), self.start)
