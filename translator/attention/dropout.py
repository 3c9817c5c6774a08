"""Dropout whose masks are cheap on a CPU."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_LEVELS = 256


def dropout(x: Tensor, p: float) -> Tensor:
    """Zero each element with probability ``p`` and scale the rest by 1 / (1 - p) (Srivastava 2014).

    On a CPU one random byte decides an element, cut from 64-bit random words: the library's Bernoulli generator
    would take a seventh of a training step. ``p`` is thereby rounded to 1/256; the scale uses the rounded value, so
    the expectation is exact. All randomness comes from torch's default generator, so that a saved state resumes.
    """
    if p <= 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p)
    threshold = min(max(round(p * _LEVELS), 1), _LEVELS - 1)
    words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    # Compared in place, bytes become the bytes 0 and 1, ten times as fast as booleans, to make and to convert.
    kept = words.view(torch.uint8)[: x.numel()].view(x.shape).ge_(threshold)
    return x * kept.to(x.dtype).mul_(_LEVELS / (_LEVELS - threshold))


class Dropout(nn.Module):
    """`dropout` as a module: active in training mode only."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """X of any shape -> the same shape."""
        return dropout(x, self.p) if self.training else x

    def extra_repr(self) -> str:
        """Show the probability."""
        return f"p={self.p}"
