"""Attention by blocks of neighbouring queries, each over the keys that its rule can show (Beltagy 2020, 2004.05150).

A block of C queries is given one stretch of keys, from ``before`` positions ahead of it to ``after`` behind it, and
every ``stride``-th column of the whole where the rule shows those. So work and memory grow with n * (C + before +
after + n/stride) and no (n, n) matrix is ever formed. The kernels stay what they are: blocks are entries of their
batch.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from translator.attention.groups import attend_groups
from translator.attention.kernels import Kernel
from translator.attention.rules import Rule, View

_SMALLEST = 64  # queries a block has at least, where there are as many: smaller matrices cost more than they save


@dataclass(frozen=True)
class Blocks:
    """How far a query sees to either side, and which columns it sees wherever they are (None: none)."""

    before: int
    after: int
    stride: int | None = None

    def size(self, n_queries: int) -> int:
        """Queries of a block, C."""
        return min(n_queries, max(self.before + 1, _SMALLEST))

    def columns(self, n_queries: int, n_keys: int) -> int:
        """Keys that a block is computed over, M, where the first key stands at position 0."""
        everywhere = 0 if self.stride is None else n_keys // self.stride
        return self.size(n_queries) + self.before + self.after + everywhere

    def pairs(self, n_queries: int, n_keys: int) -> int:
        """Pairs of query and key that are computed; to be compared with n_queries * n_keys."""
        size = self.size(n_queries)
        return -(-n_queries // size) * size * self.columns(n_queries, n_keys)


def attend_in_blocks(
    q: Tensor, k: Tensor, v: Tensor, view: View, kernel: Kernel, dropout_p: float, *, rule: Rule, blocks: Blocks
) -> Tensor:
    """Queries (B, H, Q, Dh) over keys and values (B, G, K, Dh) -> (B, H, Q, Dh), as the whole would be.

    ``rule`` must hide all keys beyond ``blocks``' stretch but the last of each ``stride`` positions.
    """
    batch, n_queries = q.shape[0], q.shape[2]
    size = blocks.size(n_queries)
    q = F.pad(q, (0, 0, 0, -n_queries % size)).unflatten(2, (-1, size))  # (B, H, nb, C, Dh)
    stretches = _Stretches(blocks, view, size, q.shape[2])
    real = torch.ones(1, k.shape[2], dtype=torch.bool, device=k.device) if view.valid is None else view.valid
    visible = stretches.visible(rule, real)  # (B or 1, nb, C, M)
    out = attend_groups(
        q.transpose(1, 2).flatten(0, 1),  # (B*nb, H, C, Dh)
        stretches.keys(k).transpose(1, 2).flatten(0, 1),  # (B*nb, G, M, Dh)
        stretches.keys(v).transpose(1, 2).flatten(0, 1),
        visible.expand(batch, -1, -1, -1).flatten(0, 1)[:, None],  # (B*nb, 1, C, M)
        dropout_p,
        kernel,
    )
    heads = out.view(batch, stretches.n, *out.shape[1:]).transpose(1, 2)  # (B, H, nb, C, Dh)
    return heads.flatten(2, 3)[:, :, :n_queries]


@dataclass(frozen=True)
class _Stretches:
    """The stretches of keys that ``n`` blocks of ``size`` queries are computed over, cut out of all keys at hand."""

    blocks: Blocks
    view: View
    size: int
    n: int

    @property
    def _first(self) -> int:
        """The position of the first key of the first stretch; it may lie before all keys."""
        return self.view.q_start - self.blocks.before

    @property
    def _length(self) -> int:
        return self.size + self.blocks.before + self.blocks.after

    def _padding(self, n_keys: int) -> tuple[int, int]:
        """Columns to add on the left and on the right; negative where columns fall away."""
        end = self._first + (self.n - 1) * self.size + self._length
        return self.view.k_start - self._first, end - (self.view.k_start + n_keys)

    def _summaries(self) -> slice:
        """The columns that every block sees: the last of each ``stride`` positions."""
        stride = self.blocks.stride
        return slice(0, 0) if stride is None else slice((stride - 1 - self.view.k_start) % stride, None, stride)

    def keys(self, x: Tensor) -> Tensor:
        """Keys or values (B, G, K, Dh) -> (B, G, nb, M, Dh)."""
        near = F.pad(x, (0, 0, *self._padding(x.shape[2]))).unfold(2, self._length, self.size).transpose(-2, -1)
        if self.blocks.stride is None:
            return near
        summaries = x[:, :, None, self._summaries()].expand(-1, -1, self.n, -1, -1)
        return torch.cat((near, summaries), dim=3)

    def visible(self, rule: Rule, real: Tensor) -> Tensor:
        """Which key a query sees; ``real`` (B or 1, K) -> (B or 1, nb, C, M). No key is seen twice."""
        device, n_keys = real.device, real.shape[1]
        starts = torch.arange(self.n, device=device)[:, None] * self.size  # (nb, 1)
        q_pos = self.view.q_start + starts + torch.arange(self.size, device=device)  # (nb, C)
        k_pos = self._first + starts + torch.arange(self._length, device=device)  # (nb, L)
        seen = rule(q_pos, k_pos)  # (nb, C, L)
        near = F.pad(real, self._padding(n_keys)).unfold(1, self._length, self.size)  # (B or 1, nb, L)
        seen = seen & near[:, :, None]
        if self.blocks.stride is None:
            return seen
        far_pos = self.view.k_start + torch.arange(n_keys, device=device)[self._summaries()]
        far_pos = far_pos.expand(self.n, -1)  # (nb, m)
        elsewhere = (far_pos < k_pos[:, :1]) | (far_pos > k_pos[:, -1:])  # those in the stretch stand there already
        far = rule(q_pos, far_pos) & (real[:, None, self._summaries()] & elsewhere)[:, :, None]  # (B or 1, nb, C, m)
        return torch.cat((seen, far), dim=-1)
