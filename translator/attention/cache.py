"""Keys and values kept between decoding steps."""

from dataclasses import dataclass

import torch
from torch import Tensor

#: Columns allocated ahead. Selecting rows copies some for nothing, but the steps after it need copy no others.
SPARE_COLUMNS = 8


class _Buffer:
    """Keys and values (R, G, C, Dh) with capacity to grow: the first ``used`` of C columns belong to some `KV`."""

    def __init__(self, k: Tensor, v: Tensor, used: int) -> None:
        self.k, self.v, self.used = k, v, used

    def newest(self, n: int, start: int) -> "KV":
        """The last ``n`` of the columns in use; the first of these stands at position ``start``."""
        columns = slice(self.used - n, self.used)
        return KV(self.k[:, :, columns], self.v[:, :, columns], start, self, self.used)


@dataclass(frozen=True)
class KV:
    """Projected keys and values (R, G, K, Dh) of R rows, with the absolute position of their first column.

    The position travels with the tensors, so that a rule stays right after old columns have been dropped. What a KV
    holds never changes, though several may share memory: new columns are written only where no other KV looks.
    """

    k: Tensor
    v: Tensor
    start: int = 0
    buffer: _Buffer | None = None  # k and v are its columns up to stop
    stop: int = 0

    @property
    def end(self) -> int:
        """The absolute position after the last column."""
        return self.start + self.k.shape[2]

    def append(self, k: Tensor, v: Tensor) -> "KV":
        """Add new columns (R, G, n, Dh) at the end."""
        held, n, buffer = self.k.shape[2], k.shape[2], self.buffer
        if held == 0 and buffer is None:
            return KV(k, v, self.start)
        if k.requires_grad or self.k.requires_grad:  # gradients do not pass through writes in place
            return KV(torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2), self.start)
        if buffer is None or buffer.used != self.stop or self.stop + n > buffer.k.shape[2]:
            # The next columns are not there, or another KV's.
            spare = self.k.new_empty(*self.k.shape[:2], max(n, SPARE_COLUMNS), self.k.shape[3])
            buffer = _Buffer(torch.cat((self.k, spare), dim=2), torch.cat((self.v, spare), dim=2), held)
        new = slice(buffer.used, buffer.used + n)
        buffer.k[:, :, new], buffer.v[:, :, new] = k, v
        buffer.used = new.stop
        return buffer.newest(held + n, self.start)

    def last(self, n: int) -> "KV":
        """Keep the newest ``n`` columns at most."""
        surplus = self.k.shape[2] - n
        if surplus <= 0:
            return self
        return KV(self.k[:, :, surplus:], self.v[:, :, surplus:], self.start + surplus, self.buffer, self.stop)

    def select(self, rows: Tensor) -> "KV":
        """Keep the given rows (R2,), in that order; a row may be taken more than once."""
        if self.buffer is None:
            return KV(self.k.index_select(0, rows), self.v.index_select(0, rows), self.start)
        buffer = _Buffer(self.buffer.k.index_select(0, rows), self.buffer.v.index_select(0, rows), self.stop)
        return buffer.newest(self.k.shape[2], self.start)
