"""Sequences of different lengths as rectangles, without wasting much on padding."""

from collections.abc import Sequence

import torch
from torch import Tensor


def length_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group indices so that rows * longest row stays within ``budget``; what is longer than that goes alone.

    Longest first, equal lengths in their given order, so that the largest batch shows at once whether it fits into
    memory. Every index appears exactly once.
    """
    batches: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batches and (len(batches[-1]) + 1) * longest <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
            longest = max(lengths[index], 1)
    return batches


def pad(rows: Sequence[Sequence[int]], pad_id: int, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """Rows of ids -> ids (B, S) filled up on the right, and valid (B, S), True for what is real."""
    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows], dtype=torch.long)
    lengths = torch.tensor([len(row) for row in rows])
    return ids.to(device), (torch.arange(width) < lengths[:, None]).to(device)
