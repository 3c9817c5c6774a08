"""Rotary positions: queries and keys turned by an angle that grows with their position (Su 2021, 2104.09864, 3.2)."""

import torch
from torch import Tensor


def rotate(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
    """Turn each pair (i, i + Dh/2) of ``x`` (B, H, T, Dh) by positions (T,) * base**(-2i/Dh) -> same shape.

    The product of a rotated query and key depends on the distance of their positions only. Computed in float32 or
    better, whatever the type of ``x``.
    """
    half = x.shape[-1] // 2
    kind = torch.promote_types(x.dtype, torch.float32)
    frequency = base ** (-torch.arange(half, device=x.device, dtype=kind) / half)  # (Dh/2,)
    angle = positions.to(kind)[:, None] * frequency  # (T, Dh/2)
    cos, sin = angle.cos(), angle.sin()
    first, second = x[..., :half].to(kind), x[..., half:].to(kind)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1).to(x.dtype)
