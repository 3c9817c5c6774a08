"""Attention to the few keys that fit a query best (Zhao 2019, 1912.11637): chosen by content, not by position."""

import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from translator.attention.kernels import Kernel
from translator.attention.rules import Rule, View

_SCORES = 2**22  # scores held at once while keys are chosen


def top_keys(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k highest of each row of scores (..., K), hidden ones -inf -> their columns (..., k), and which are seen.

    Of equal scores the earlier columns are taken. A row that sees fewer than k keys is filled up with unseen ones.
    """
    k = min(k, scores.shape[-1])
    values, columns = scores.topk(k, dim=-1)
    last = values[..., -1:]
    undecided = (scores == last).sum(-1, keepdim=True) > (values == last).sum(-1, keepdim=True)
    if bool((undecided & (last > -math.inf)).any()):
        # The quick selection takes any of equals; a stable sort of whole rows takes the first.
        values, columns = (found[..., :k] for found in scores.sort(dim=-1, descending=True, stable=True))
    return columns, values > -math.inf


@torch.no_grad()
def choose_keys(q: Tensor, k: Tensor, view: View, rule: Rule, n: int) -> tuple[Tensor, Tensor]:
    """The n keys (B, H, K, Dh) that score highest for each query (B, H, Q, Dh) -> columns and seen (B, H, Q, n).

    Never more than some rows of scores at once: memory grows with the keys, not with their square.
    """
    batch, n_heads, n_queries, head_dim = q.shape
    rows = max(1, _SCORES // (batch * n_heads * k.shape[2]))
    found = []
    for first in range(0, n_queries, rows):
        some = q[:, :, first : first + rows]
        scores = (some * (1.0 / math.sqrt(head_dim))) @ k.transpose(-2, -1)  # as the kernels score
        visible = replace(view, q_start=view.q_start + first).visible(rule, some, k)
        if visible is not None:
            scores = scores.masked_fill(~visible, -math.inf)
        found.append(top_keys(scores, n))
    columns, seen = zip(*found, strict=True)
    return torch.cat(columns, dim=2), torch.cat(seen, dim=2)


def attend_chosen(
    q: Tensor, k: Tensor, v: Tensor, columns: Tensor, seen: Tensor, kernel: Kernel, dropout_p: float
) -> Tensor:
    """Queries (B, H, Q, Dh) over the chosen columns (B, H, Q, n) of keys and values (B, H, K, Dh) -> (B, H, Q, Dh).

    Each query has keys of its own, so it is computed as a head of its own.
    """
    batch, n_heads, n_keys, _ = k.shape
    first = torch.arange(batch * n_heads, device=k.device).view(batch, n_heads, 1, 1) * n_keys
    rows = (columns + first).flatten(0, 1)  # (B*H, Q, n)
    # A look-up like that of embeddings: its gradient is far quicker than that of an index into a tensor.
    own_k, own_v = (F.embedding(rows, x.reshape(-1, x.shape[-1])) for x in (k, v))  # (B*H, Q, n, Dh)
    out = kernel(q.flatten(0, 1)[:, :, None], own_k, own_v, seen.flatten(0, 1)[:, :, None], dropout_p)
    return out.view(batch, n_heads, *out.shape[1:])[:, :, :, 0]
