"""Spearman's rank correlation, many rows at once."""

from torch import Tensor


def ranks(x: Tensor) -> Tensor:
    """Ranks 1 to n along the last dimension (..., n); equal values share the mean of their ranks."""
    below = (x[..., :, None] > x[..., None, :]).sum(dim=-1)
    equal = (x[..., :, None] == x[..., None, :]).sum(dim=-1)  # itself included
    return below.double() + (equal.double() + 1.0) / 2.0


def spearman(x: Tensor, y: Tensor) -> Tensor:
    """Correlation of the ranks of x and y along the last dimension, others broadcast: -1 to 1 (Spearman 1904).

    NaN where all of x or all of y is equal: there is no order then.
    """
    a, b = (r - r.mean(dim=-1, keepdim=True) for r in (ranks(x), ranks(y)))
    return (a * b).sum(dim=-1) / (a.square().sum(dim=-1) * b.square().sum(dim=-1)).sqrt()
