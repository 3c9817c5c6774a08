"""Multi-head attention: one core, three classes that differ in where keys and values come from.

MultiHead(Q, K, V) = Concat(head_1, ..., head_H) W^O,  head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)
(Vaswani 2017, 3.2.2)

Letters: B batch, T length, S source length, D d_model, H query heads, G key/value heads, Dh head_dim.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.attention.cache import KV
from translator.attention.kernels import attend_explicit
from translator.attention.patterns import Pattern, choose_pattern
from translator.attention.rotary import rotate
from translator.attention.rules import Rule, View, everywhere
from translator.errors import UserError


class MultiHeadAttention(nn.Module):
    """The core: projections, the sharing of key/value heads, who sees whom.

    ``n_kv_heads`` = ``n_heads`` is plain multi-head attention, 1 is multi-query (Shazeer 2019, 1911.02150), anything
    between is grouped-query attention (Ainslie 2023, 2305.13245). All three fall out of ``head_to_kv`` (H,), the
    index of the key/value head that each query head reads. ``pattern`` says which keys are looked at, and computes no
    others; a bare ``rule`` is computed whole.

    Raises:
        UserError: ``d_model`` is not a multiple of ``n_heads``, or ``n_heads`` not of ``n_kv_heads``.
    """

    head_to_kv: Tensor

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        memory_dim: int | None = None,
        dropout: float = 0.0,
        rule: Rule = everywhere,
        pattern: Pattern | None = None,
        rotary: bool = False,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if n_heads < 1 or d_model % n_heads:
            raise UserError(f"d_model ({d_model}) must be a multiple of n_heads ({n_heads})")
        if n_kv_heads < 1 or n_heads % n_kv_heads:
            raise UserError(f"n_heads ({n_heads}) must be a multiple of n_kv_heads ({n_kv_heads})")
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, d_model // n_heads
        if rotary and self.head_dim % 2:
            raise UserError(f"rotary positions need an even head size, not {self.head_dim} (d_model / n_heads)")
        self.dropout, self.rotary = dropout, rotary
        self.pattern = Pattern(rule) if pattern is None else pattern
        self.q_proj = nn.Linear(d_model, n_heads * self.head_dim)
        self.k_proj = nn.Linear(memory_dim or d_model, n_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(memory_dim or d_model, n_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(n_heads * self.head_dim, d_model)
        index = torch.arange(n_heads) // (n_heads // n_kv_heads)  # MHA 0123, GQA 0011, MQA 0000
        self.register_buffer("head_to_kv", index, persistent=False)
        #: Stands in for the three projections of one input where they are computed together; see `join`.
        self.qkv_proj: nn.Module | None = None
        #: The numbers that the heads had before any was pruned; see `prune`.
        self.kept = tuple(range(n_heads))
        #: Multipliers of the heads' outputs, (H,) or one line a row (B, H); None is 1 for all. See `gated`.
        self.gates: Tensor | None = None
        #: Called with the per-head weights (B, H, Q, K), before dropout, when somebody listens; see `capture`.
        self.on_weights: Callable[[Tensor], None] | None = None

    def project(self, x: Tensor, start: int = 0) -> tuple[Tensor, KV]:
        """Queries, and keys and values, of the same x: what `project_q` and `project_kv` give."""
        if self.qkv_proj is not None:
            joint = self.qkv_proj(x)
        elif torch.is_grad_enabled():
            joint = _at_once(x, self.q_proj, self.k_proj, self.v_proj)
        else:
            return self.project_q(x), self.project_kv(x, start)
        n_heads = self.n_heads, self.n_kv_heads, self.n_kv_heads
        q, k, v = _split_heads(joint, sum(n_heads), self.head_dim).split(n_heads, dim=1)
        return q, KV(k, v, start)

    def project_q(self, x: Tensor) -> Tensor:
        """Queries of x (B, T, D) -> (B, H, T, Dh)."""
        return _split_heads(self.q_proj(x), self.n_heads, self.head_dim)

    def project_kv(self, x: Tensor, start: int = 0) -> KV:
        """Keys and values of x (B, T, D), whose first column stands at position ``start`` -> (B, G, T, Dh) each."""
        n_heads = self.n_kv_heads
        if torch.is_grad_enabled():
            joint = _split_heads(_at_once(x, self.k_proj, self.v_proj), 2 * n_heads, self.head_dim)
            k, v = joint.split((n_heads, n_heads), dim=1)
        else:
            k, v = (_split_heads(projection(x), n_heads, self.head_dim) for projection in (self.k_proj, self.v_proj))
        return KV(k, v, start)

    def join(self) -> None:
        """Compute all that is projected from one input in one product, for good: one large product is the cheaper one.

        The three projections are gone afterwards, so that nobody changes what is no longer read.
        """
        parts = (self.q_proj, self.k_proj, self.v_proj)
        joined = nn.Linear(self.q_proj.in_features, sum(part.out_features for part in parts), device="meta")
        joined.weight = nn.Parameter(torch.cat([part.weight.detach() for part in parts]))
        joined.bias = nn.Parameter(torch.cat([part.bias.detach() for part in parts]))
        self.qkv_proj = joined
        del self.q_proj, self.k_proj, self.v_proj

    def attend(self, q: Tensor, kv: KV, valid: Tensor | None = None, start: int = 0) -> Tensor:
        """Queries (B, H, Q, Dh) from ``start`` on over keys and values (B, G, K, Dh), valid (B, K) -> (B, Q, D)."""
        k, v = kv.k, kv.v
        listened = self.on_weights is not None
        # Groups are of equal size until heads are pruned.
        in_groups = self.pattern.takes_groups and len(self.kept) * self.head_dim == self.out_proj.out_features
        if self.n_kv_heads != self.n_heads and (listened or not in_groups):
            k, v = k.index_select(1, self.head_to_kv), v.index_select(1, self.head_to_kv)  # (B, H, K, Dh)
        dropout_p = self.dropout if self.training else 0.0
        view = View(start, kv.start, valid)
        if not listened and self.n_heads:
            heads = self.pattern.attend(q, k, v, view, dropout_p)
        else:
            heads, weights = attend_explicit(q, k, v, self.pattern.visible(q, k, view), dropout_p)
            if self.on_weights is not None:
                self.on_weights(weights)
        if self.gates is not None:
            heads = heads * self.gates[..., None, None]
        merged: Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, Q, D)
        return merged


class SelfAttention(MultiHeadAttention):
    """Every position of a sequence attends to the sequence: the encoder's attention."""

    def forward(self, x: Tensor, valid: Tensor | None = None) -> Tensor:
        """X (B, T, D), ``valid`` (B, T) True for real tokens -> (B, T, D)."""
        q, kv = self.project(x)
        positions = kv.positions()
        if self.rotary:
            q, kv = rotate(q, positions), KV(rotate(kv.k, positions), kv.v)
        return self.attend(q, kv, valid)


class CausalSelfAttention(MultiHeadAttention):
    """Every position attends to itself and to what came before: the decoder's attention, with a growing cache."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        dropout: float = 0.0,
        window: int | None = None,
        stride: int | None = None,
        top_k: int | None = None,
        rotary: bool = False,
    ) -> None:
        pattern = choose_pattern(causal_only=True, window=window, stride=stride, top_k=top_k)
        super().__init__(d_model, n_heads, n_kv_heads=n_kv_heads, dropout=dropout, pattern=pattern, rotary=rotary)

    def forward(self, x: Tensor, past: KV | None = None) -> tuple[Tensor, KV]:
        """X (B, T, D), the new positions after ``past`` -> (B, T, D) and the cache that includes them.

        Sentences are padded on the right, so no real query can see a padded key and no padding mask is needed.
        """
        q, new = self.project(x, start=0 if past is None else past.end)
        positions = new.positions()
        if self.rotary:
            q, new = rotate(q, positions), KV(rotate(new.k, positions), new.v, new.start)
        kv = new if past is None else past.append(new.k, new.v)
        out = self.attend(q, kv, start=new.start)
        keeps = self.pattern.keeps
        return out, kv if keeps is None else kv.last(keeps)


class CrossAttention(MultiHeadAttention):
    """The decoder looks at the memory: keys and values are projected once and shared by all rows of a sentence."""

    def forward(self, x: Tensor, memory: KV, valid: Tensor | None = None) -> Tensor:
        """X (B*N, T, D), N rows a sentence; memory (B, G, S, Dh) from `project_kv`; valid (B, S) -> (B*N, T, D).

        The N rows of a sentence (its beams) are folded into the query length, so that its keys and values are read
        once and never copied.
        """
        folded = x.reshape(memory.k.shape[0], -1, x.shape[-1])  # (B, N*T, D)
        return self.attend(self.project_q(folded), memory, valid).reshape(x.shape)


def _at_once(x: Tensor, *projections: nn.Linear) -> Tensor:
    """What the projections make of x, one beside another, by a product with all their matrices, one below another.

    In training this pays, forward and more so backward: where x is narrow so are the single products, and each would
    add its own gradient of x. A step of a search would wait for the copy of the matrices.
    """
    weight = torch.cat([projection.weight for projection in projections])
    return F.linear(x, weight, torch.cat([projection.bias for projection in projections]))


def _split_heads(x: Tensor, n_heads: int, head_dim: int) -> Tensor:
    """(B, T, H*Dh) -> (B, H, T, Dh)."""
    return x.view(*x.shape[:-1], n_heads, head_dim).transpose(1, 2)
