"""Keys and values kept between decoding steps."""

from dataclasses import dataclass

import torch
from torch import Tensor

#: Columns of room that are made at once: some are copied in vain when rows are picked, but a step then copies no other.
SPARE = 8


class _Room:
    """Memory for keys and values (R, G, C, Dh): the first ``used`` columns belong to some `KV`, others are spare."""

    def __init__(self, k: Tensor, v: Tensor, used: int) -> None:
        self.k, self.v, self.used = k, v, used

    @classmethod
    def after(cls, k: Tensor, v: Tensor, n: int) -> "_Room":
        """Copies of k and v (R, G, K, Dh), and room for at least n columns after them."""
        spare = k.new_empty(*k.shape[:2], max(n, SPARE), k.shape[3])
        return cls(torch.cat((k, spare), dim=2), torch.cat((v, spare), dim=2), k.shape[2])

    def takes(self, end: int, n: int) -> bool:
        """Whether n columns after the first ``end`` are nobody's."""
        return end == self.used and end + n <= self.k.shape[2]

    def add(self, k: Tensor, v: Tensor) -> None:
        """Put columns (R, G, n, Dh) where the spare ones begin."""
        new = slice(self.used, self.used + k.shape[2])
        self.k[:, :, new], self.v[:, :, new] = k, v
        self.used = new.stop


@dataclass(frozen=True)
class KV:
    """Projected keys and values (R, G, K, Dh) of R rows, with the absolute position of their first column.

    The position travels with the tensors, so that a rule stays right after old columns have been dropped. What a KV
    holds never changes, though several may share memory: new columns are written only where no other KV looks.
    """

    k: Tensor
    v: Tensor
    start: int = 0
    room: _Room | None = None  # k and v are its columns up to stop
    stop: int = 0

    @property
    def end(self) -> int:
        """The absolute position after the last column."""
        return self.start + self.k.shape[2]

    def positions(self) -> Tensor:
        """Absolute positions of the columns (K,)."""
        return torch.arange(self.start, self.end, device=self.k.device)

    def append(self, k: Tensor, v: Tensor) -> "KV":
        """Add new columns (R, G, n, Dh) at the end."""
        held, n = self.k.shape[2], k.shape[2]
        if held == 0 and self.room is None:
            return KV(k, v, self.start)
        if k.requires_grad or self.k.requires_grad:  # what has been written in place has no gradient
            return KV(torch.cat((self.k, k), dim=2), torch.cat((self.v, v), dim=2), self.start)
        room = self.room
        if room is None or not room.takes(self.stop, n):
            room = _Room.after(self.k, self.v, n)
        room.add(k, v)
        return self._of(room, held + n, self.start)

    def last(self, n: int) -> "KV":
        """Keep the newest ``n`` columns at most."""
        surplus = self.k.shape[2] - n
        if surplus <= 0:
            return self
        return KV(self.k[:, :, surplus:], self.v[:, :, surplus:], self.start + surplus, self.room, self.stop)

    def select(self, rows: Tensor) -> "KV":
        """Keep the given rows (R2,), in that order; a row may be taken more than once."""
        if self.room is None:
            return KV(self.k.index_select(0, rows), self.v.index_select(0, rows), self.start)
        room = _Room(self.room.k.index_select(0, rows), self.room.v.index_select(0, rows), self.stop)
        return self._of(room, self.k.shape[2], self.start)

    @staticmethod
    def _of(room: _Room, held: int, start: int) -> "KV":
        """The newest ``held`` columns of the room."""
        mine = slice(room.used - held, room.used)
        return KV(room.k[:, :, mine], room.v[:, :, mine], start, room, room.used)
