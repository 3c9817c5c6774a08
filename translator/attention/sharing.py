"""Fewer key/value heads for a trained attention: those that are to become one are averaged (Ainslie 2023, 2305.13245).

The averages are a start that is near, not the same: a short training on them repairs what they lost (their section
2.1, where it takes 5 % of the first training).
"""

import torch
from torch import Tensor

from translator.attention.heads import change_heads
from translator.attention.multihead import MultiHeadAttention
from translator.errors import UserError


def share_key_value_heads(attention: MultiHeadAttention, present: int, n_kv_heads: int) -> None:
    """Pool ``present`` key/value heads, counted before any head was pruned, to ``n_kv_heads``.

    Neighbours become one: the mean of their rows of the key and of the value projection, biases included (section
    2.1 and figure 1). Query heads read what their own key/value head went into. Of heads that were pruned nothing is
    averaged, and where a whole new group has gone, it stays gone. The parameters are new objects afterwards.

    Raises UserError where ``n_kv_heads`` does not divide ``present``; nothing has been changed then.
    """
    if n_kv_heads < 1 or present % n_kv_heads:
        fitting = ", ".join(str(n) for n in range(1, present) if present % n == 0)
        raise UserError(f"{present} key/value heads cannot become {n_kv_heads}: choose among {fitting}")
    if not attention.n_heads:
        return
    whole = attention.out_proj.out_features // attention.head_dim  # query heads before any was pruned
    device = attention.head_to_kv.device
    group_of_query = torch.tensor(attention.kept, device=device) // (whole // n_kv_heads)  # (H,) new key/value head
    group_of_head = torch.zeros(attention.n_kv_heads, dtype=torch.long, device=device)
    group_of_head[attention.head_to_kv] = group_of_query  # (G,) all readers of an old head name the same new one
    left = group_of_query.unique()  # ascending

    def means(heads: Tensor) -> Tensor:
        """Old heads (G, Dh, ...) -> those that are left, the mean of each group."""
        return torch.stack([heads[group_of_head == group].mean(dim=0) for group in left])

    for linear in (attention.k_proj, attention.v_proj):
        change_heads(linear, 0, attention.head_dim, means)
    attention.head_to_kv, attention.n_kv_heads = torch.searchsorted(left, group_of_query), len(left)
