"""From attention weights to word links: pure functions of a matrix and of where words lie.

A matrix is (T, S): one row per target unit, one column per source unit, units being pieces or words. How links are
made: the end-of-sentence column is dropped and rows are renormalised before anything else looks at them, so that no
link points past the last word; weights of the pieces of a source word are added up, rows of the pieces of a target
word are averaged (Koehn & Knowles 2017, section 4.6, read with the order of the steps stated here).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Link = tuple[int, int]  # (source index, target index), zero-based

#: Soft alignments leave out weights below this: they say nothing and would fill the line.
FAINT = 0.01


@dataclass(frozen=True)
class Alignment:
    """Links in the order of the target, and the attention weight of each."""

    links: list[Link]
    weights: list[float]


def drop_last_column(weights: Tensor) -> Tensor:
    """(T, S + 1), whose last column is the end of sentence -> (T, S) with rows that sum to 1 again."""
    kept = weights[:, :-1].float()
    total = kept.sum(dim=1, keepdim=True)
    return kept / total.clamp_min(torch.finfo(kept.dtype).tiny)


def merge_units(
    weights: Tensor, source_words: Sequence[int], target_words: Sequence[int], n_source: int, n_target: int
) -> Tensor:
    """Piece matrix (T, S) -> word matrix (n_target, n_source).

    ``source_words`` (S) and ``target_words`` (T) give the word of each piece. A word without pieces keeps a row or
    column of zeros.
    """
    columns = torch.zeros(weights.shape[0], n_source)
    columns.index_add_(1, torch.tensor(list(source_words), dtype=torch.long), weights)
    rows = torch.zeros(n_target, n_source)
    of_target = torch.tensor(list(target_words), dtype=torch.long)
    rows.index_add_(0, of_target, columns)
    pieces = torch.bincount(of_target, minlength=n_target).clamp_min(1)
    return rows / pieces[:, None]


def extract(matrix: Tensor, mode: str | float, source_start: int = 0, target_start: int = 0) -> Alignment:
    """Links of a matrix (T, S); indices are shifted by the two starts.

    ``mode``: "hard" gives every target unit its best source unit (the leftmost of equals), "soft" every pair whose
    weight is not faint, a number every pair with at least that weight.
    """
    if matrix.numel() == 0:
        return Alignment([], [])
    if mode == "hard":
        best, column = matrix.max(dim=1)
        found = [(int(s), t) for t, s in enumerate(column.tolist()) if best[t] > 0]
    else:
        least = FAINT if mode == "soft" else float(mode)
        found = [(s, t) for t, s in (matrix >= least).nonzero().tolist()]
    weights = [float(matrix[t, s]) for s, t in found]
    return Alignment([(s + source_start, t + target_start) for s, t in found], weights)


def pharaoh(links: Sequence[Link], weights: Sequence[float] | None = None) -> str:
    """Write links as ``0-0 1-2`` (source-target), or with their weights as ``0-0:0.913 1-2:0.402``."""
    if weights is None:
        return " ".join(f"{s}-{t}" for s, t in links)
    return " ".join(f"{s}-{t}:{weight:.3f}" for (s, t), weight in zip(links, weights, strict=True))
