"""Multi-head attention: one core, three classes that differ in where keys and values come from.

MultiHead(Q, K, V) = Concat(head_1, ..., head_H) W^O,  head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)
(Vaswani 2017, 3.2.2)

Letters: B batch, T length, S source length, D d_model, H query heads, G key/value heads, Dh head_dim.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.attention.cache import KV
from translator.attention.kernels import attend_explicit
from translator.attention.patterns import choose_pattern
from translator.attention.rotary import rotate
from translator.attention.rules import View
from translator.errors import UserError


class MultiHeadAttention(nn.Module):
    """The core: projections, the sharing of key/value heads, who sees whom.

    ``n_kv_heads`` = ``n_heads`` is plain multi-head attention, 1 is multi-query (Shazeer 2019, 1911.02150), anything
    between is grouped-query attention (Ainslie 2023, 2305.13245). All three fall out of ``head_to_kv`` (H,), the
    index of the key/value head that each query head reads. ``pattern``, one of the numbers that `choose_pattern` takes,
    says which keys are looked at; no others are computed.

    Raises UserError where ``d_model`` is not a multiple of ``n_heads``, or ``n_heads`` not of ``n_kv_heads``.
    """

    causal = False  # whether queries see only what came before them
    head_to_kv: Tensor

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        memory_dim: int | None = None,
        dropout: float = 0.0,
        rotary: bool = False,
        **pattern: int | None,
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
        self.pattern = choose_pattern(causal_only=self.causal, **pattern)
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
        #: Multipliers of the heads' outputs, (H,) or others for each row (B, H); None is 1 for all. See `gated`.
        self.gates: Tensor | None = None
        #: Called with the per-head weights (B, H, Q, K), before dropout, when somebody listens; see `capture`.
        self.on_weights: Callable[[Tensor], None] | None = None

    def project(self, x: Tensor, start: int = 0) -> tuple[Tensor, KV]:
        """What `project_q` and `project_kv` give of the same x, turned by their positions where those are rotary."""
        if self.qkv_proj is None:
            q, k, v = self._project(x, self.q_proj, self.k_proj, self.v_proj)
        else:
            q, k, v = self._heads(self.qkv_proj(x)).split((self.n_heads, self.n_kv_heads, self.n_kv_heads), dim=1)
        if self.rotary:
            positions = torch.arange(start, start + x.shape[1], device=x.device)
            q, k = rotate(q, positions), rotate(k, positions)
        return q, KV(k, v, start)

    def project_q(self, x: Tensor) -> Tensor:
        """Queries of x (B, T, D) -> (B, H, T, Dh)."""
        return self._heads(self.q_proj(x))

    def project_kv(self, x: Tensor, start: int = 0) -> KV:
        """Keys and values of x (B, T, D), whose first column stands at position ``start`` -> (B, G, T, Dh) each."""
        k, v = self._project(x, self.k_proj, self.v_proj)
        return KV(k, v, start)

    def _project(self, x: Tensor, *projections: nn.Linear) -> Sequence[Tensor]:
        """The heads (B, n, T, Dh) that each of the projections makes of x (B, T, D).

        In training by one product with all their matrices, one below another. This pays, forward and more so backward:
        where x is narrow so are the single products, and each would add its own gradient of x. A step of a search would
        wait for the copy of the matrices.
        """
        if not torch.is_grad_enabled():
            return [self._heads(projection(x)) for projection in projections]
        weight = torch.cat([projection.weight for projection in projections])
        joint = F.linear(x, weight, torch.cat([projection.bias for projection in projections]))
        n_heads = [projection.out_features // self.head_dim for projection in projections]
        return self._heads(joint).split(n_heads, dim=1)  # type: ignore[no-any-return]

    def _heads(self, x: Tensor) -> Tensor:
        """(B, T, H*Dh) -> (B, H, T, Dh)."""
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # type: ignore[no-any-return]

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
        k, v, listener = kv.k, kv.v, self.on_weights
        pruned = len(self.kept) * self.head_dim < self.out_proj.out_features  # groups may differ in size then
        in_groups = self.pattern.takes_groups and not pruned and listener is None
        if self.n_kv_heads != self.n_heads and not in_groups:
            k, v = k.index_select(1, self.head_to_kv), v.index_select(1, self.head_to_kv)  # (B, H, K, Dh)
        dropout_p = self.dropout if self.training else 0.0
        view = View(start, kv.start, valid)
        if listener is None and self.n_heads:
            heads = self.pattern.attend(q, k, v, view, dropout_p)
        else:
            heads, weights = attend_explicit(q, k, v, self.pattern.visible(q, k, view), dropout_p)
            if listener is not None:
                listener(weights)
        if self.gates is not None:
            heads = heads * self.gates[..., None, None]
        merged: Tensor = self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, Q, D)
        return merged


class SelfAttention(MultiHeadAttention):
    """Every position of a sequence attends to the sequence: the encoder's attention."""

    def forward(self, x: Tensor, valid: Tensor | None = None) -> Tensor:
        """X (B, T, D), ``valid`` (B, T) True for real tokens -> (B, T, D)."""
        return self.attend(*self.project(x), valid)


class CausalSelfAttention(MultiHeadAttention):
    """Every position attends to itself and to what came before: the decoder's attention, with a growing cache."""

    causal = True

    def forward(self, x: Tensor, past: KV | None = None) -> tuple[Tensor, KV]:
        """X (B, T, D), the new positions after ``past`` -> (B, T, D) and the cache that includes them.

        Sentences are padded on the right, so no real query can see a padded key and no padding mask is needed.
        """
        q, new = self.project(x, start=0 if past is None else past.end)
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
