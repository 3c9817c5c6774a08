"""Query heads that share a key/value head (Ainslie 2023, 2305.13245), computed without a copy of it for each."""

from torch import Tensor

from translator.attention.kernels import Kernel


def attend_groups(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, dropout_p: float, kernel: Kernel) -> Tensor:
    """Queries (B, H, Q, Dh) over keys and values (B, G, K, Dh), each read by H/G neighbouring heads -> (B, H, Q, Dh).

    ``visible`` broadcasts to (B, 1, Q, K); None: all. The queries of a group's heads are laid one after another, as if
    one head had asked them all, so that its keys and values are read once, and never copied.
    """
    n_heads, n_groups = q.shape[1], k.shape[1]
    if n_heads == n_groups:
        return kernel(q, k, v, visible, dropout_p)
    folded = q.unflatten(1, (n_groups, -1)).flatten(2, 3)  # (B, G, H/G*Q, Dh)
    if visible is not None and visible.shape[-2] > 1:
        visible = visible.tile(n_heads // n_groups, 1)  # (..., H/G*Q, K)
    return kernel(folded, k, v, visible, dropout_p).reshape(q.shape)
