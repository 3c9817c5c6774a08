"""How attention is computed: two free functions, the same mathematics.

Attention(Q, K, V) = softmax(Q K^T / sqrt(Dh)) V   (Vaswani 2017, equation 1)

Shapes: q (B, H, Q, Dh); k, v (B, H, K, Dh); ``visible`` broadcasts to (B, H, Q, K), True = may attend, None = all;
or the logarithm of that in q's type: 0 where visible, -inf where hidden.
A query that sees nothing gets zeros, never NaN.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from translator.attention.dropout import dropout

#: Numbers of 32 bits in a vector register: the library's softmax takes ten times as long over shorter rows.
_LANES = 16
#: On a CPU the fused kernel takes a few microseconds per head and row, whatever their size. So many of them with so few
#: keys, as in a step over a batch of sentences, are done up to three times as fast by batched products; not those of
#: single queries in 16 bits, which gain nothing.
_MANY_HEADS, _FEW_KEYS = 128, 64

#: (q, k, v, visible, dropout_p) -> output (B, H, Q, Dh)
Kernel = Callable[[Tensor, Tensor, Tensor, Tensor | None, float], Tensor]


def attention_weights(q: Tensor, k: Tensor, visible: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(Dh)) -> (B, H, Q, K); rows sum to 1, or to 0 where a query sees nothing.

    Never below float32.
    """
    products = q @ k.transpose(-2, -1)  # (B, H, Q, K)
    products = products.to(torch.promote_types(products.dtype, torch.float32))
    hidden = products.new_zeros(()) if visible is None else logarithm(visible, products.dtype)
    softmax = _softmax_to_learn if products.requires_grad else _softmax
    return softmax(products, hidden, 1.0 / math.sqrt(q.shape[-1]))


def _softmax(products: Tensor, hidden: Tensor, scale: float) -> Tensor:
    """The softmax of products (B, H, Q, K) times ``scale``, with ``hidden``, 0 or -inf, added to them; written out.

    For a CPU: the time per element does not depend on the length of the rows; and powers of two, unlike those of e,
    take no longer where they vanish.
    """
    scores = torch.add(hidden, products, alpha=scale * math.log2(math.e))
    # Where all is hidden the highest score is -inf; a finite bound below it keeps -inf - bound from being NaN.
    highest = scores.amax(dim=-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).min)
    weights = torch.exp2(scores - highest)
    # The highest term is 2^0 = 1, so only a row that sees nothing sums to less than 1.
    return weights / weights.sum(dim=-1, keepdim=True).clamp_min(1.0)


def _softmax_to_learn(products: Tensor, hidden: Tensor, scale: float) -> Tensor:
    """The same by the library, whose backward pass is one pass over the scores and not a dozen.

    Hidden keys, and those that fill up a short row, get the lowest finite score, not -inf: a row that sees nothing
    then has equal weights, not NaN, and is set to zero afterwards.
    """
    n_keys, lowest = products.shape[-1], torch.finfo(products.dtype).min
    hidden = hidden.clamp_min(lowest)
    scores = torch.add(hidden, products, alpha=scale)
    if n_keys < _LANES:
        scores = F.pad(scores, (0, _LANES - n_keys), value=lowest)
    weights = scores.softmax(dim=-1)[..., :n_keys]
    fully_masked = hidden.amax(dim=-1, keepdim=True) == lowest
    return weights.masked_fill(fully_masked, 0.0) if bool(fully_masked.any()) else weights


def logarithm(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where visible, -inf where hidden: what is added to scores; what is that already stays."""
    return visible.to(dtype) if visible.is_floating_point() else visible.to(dtype).log()


def attend_explicit(
    q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, dropout_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Attention written out -> output (B, H, Q, Dh) and the weights (B, H, Q, K) before dropout."""
    weights = attention_weights(q, k, visible)
    return dropout(weights, dropout_p).to(v.dtype) @ v, weights


def attend_fused(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, dropout_p: float = 0.0) -> Tensor:
    """The same in one library call that never holds the weights -> output (B, H, Q, Dh)."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=dropout_p)


def prefers_explicit(q: Tensor, k: Tensor) -> bool:
    """The one place that chooses a kernel when nobody asks for the weights.

    On a CPU the fused kernel's backward pass is slow enough to more than double a training step, while its forward
    pass is the faster one but for many short rows; on a GPU the fused kernel wins in both.
    """
    many = many_short(q.shape[0] * q.shape[1], q.shape[2], k.shape[2], q.dtype)
    return q.device.type == "cpu" and (q.requires_grad or many)


def many_short(n_heads: int, n_queries: int, n_keys: int, dtype: torch.dtype) -> bool:
    """Whether so many heads (of all rows) with so few keys are done faster by batched products."""
    return n_heads >= _MANY_HEADS and n_keys <= _FEW_KEYS and (n_queries > 1 or dtype.itemsize > 2)


def attend(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, dropout_p: float = 0.0) -> Tensor:
    """The kernel that suits the device, without weights -> output (B, H, Q, Dh)."""
    if prefers_explicit(q, k):
        return attend_explicit(q, k, v, visible, dropout_p)[0]
    return attend_fused(q, k, v, visible, dropout_p)
