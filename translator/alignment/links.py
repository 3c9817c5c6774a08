"""From attention weights to word links: pure functions of a matrix and of where words lie.

A matrix is (T, S): one row per target unit, one column per source unit, units being pieces or words. How links are
made: rows are taken from the step that writes a piece or from the one that reads it (`at_step`); the end-of-sentence
column is dropped and rows are renormalised before anything else looks at them, so that no link points past the last
word. Weights between words are those of the pieces of a source word added up, and of the pieces of a target word
averaged (Koehn & Knowles 2017, section 4.6, read with the order of the steps stated here); soft links and thresholds
look at these, and `link_words` says what hard links between words are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class Side(NamedTuple):
    """The pieces of a source or target: the word of each (from 0), and whether it has a letter or digit."""

    words: Sequence[int]
    lettered: Sequence[bool]

    @property
    def n_words(self) -> int:
        """Words up to the last that has a piece."""
        return max(self.words, default=-1) + 1

    def speakers(self) -> list[int]:
        """The pieces that stand for their words: those with letters, and all of a word that has none."""
        spelt = {word for word, lettered in zip(self.words, self.lettered, strict=True) if lettered}
        return [piece for piece, word in enumerate(self.words) if self.lettered[piece] or word not in spelt]


def drop_last_column(weights: Tensor) -> Tensor:
    """(..., T, S + 1), whose last column is the end of sentence -> (..., T, S) with rows that sum to 1 again."""
    kept = weights[..., :-1].float()
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.clamp_min(torch.finfo(kept.dtype).tiny)


def merge_units(
    weights: Tensor, source_words: Sequence[int], target_words: Sequence[int], n_source: int, n_target: int
) -> Tensor:
    """Piece matrix (..., T, S) -> word matrix (..., n_target, n_source).

    ``source_words`` (S) and ``target_words`` (T) give the word of each piece. A word without pieces keeps a row or
    column of zeros.
    """
    columns = torch.zeros(*weights.shape[:-1], n_source)
    columns.index_add_(-1, torch.tensor(list(source_words), dtype=torch.long), weights)
    rows = torch.zeros(*weights.shape[:-2], n_target, n_source)
    of_target = torch.tensor(list(target_words), dtype=torch.long)
    rows.index_add_(-2, of_target, columns)
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


def extract_words(weights: Tensor, source: Side, target: Side, mode: str | float, source_start: int = 0) -> Alignment:
    """Links between words from a matrix of pieces (T, S), in the order of the target; modes are those of `extract`.

    "hard" gives the links of `link_words`; whatever the mode, their weights are those between words.
    """
    matrix = merge_units(weights, source.words, target.words, source.n_words, target.n_words)
    if mode != "hard":
        return extract(matrix, mode, source_start)
    found = link_words(spoken(weights, source, target))
    return Alignment([(s + source_start, t) for s, t in found], [float(matrix[t, s]) for s, t in found])


def spoken(weights: Tensor, source: Side, target: Side) -> Tensor:
    """Piece matrix (..., T, S) -> word matrix, as `merge_units` makes it, from pieces that stand for their words alone.

    The full stop of "sleeps." would else tie the last words of both lines together, whatever they mean, and sentence
    punctuation is where heads rest that have nothing to find.
    """
    columns, rows = source.speakers(), target.speakers()
    words = [source.words[piece] for piece in columns], [target.words[piece] for piece in rows]
    return merge_units(weights[..., rows, :][..., columns], *words, source.n_words, target.n_words)


def link_words(matrix: Tensor) -> list[Link]:
    """Hard links of a word matrix (T, S), in the order of the target.

    What a source word gives to a target word is its share: the weight of the pair by the sum of the source word's
    column, since a word that every step looks at a little explains none of them. Each target word is linked with the
    source word of the largest share. A source word that is left over then joins the target word that looks at it most
    if a neighbour of it is linked there: "in the" and "im", "tidied up" and "aufgeräumt". (Growing from links of one
    direction to neighbours of the other is the idea of grow-diag, Koehn et al. 2003, here within one matrix.)
    """
    if matrix.numel() == 0:
        return []
    shares = matrix / matrix.sum(dim=0).clamp_min(torch.finfo(matrix.dtype).tiny)
    found = {(s, t) for t, s in _largest(shares)}
    linked = {s for s, _ in found}
    left_over = {(s, t) for s, t in _largest(shares.T) if s not in linked}
    joining = {(s, t) for s, t in left_over if not found.isdisjoint({(s - 1, t), (s + 1, t)})}
    return sorted(found | joining, key=lambda link: (link[1], link[0]))


def _largest(matrix: Tensor) -> Iterator[tuple[int, int]]:
    """Each row that has any weight, and the column of its largest one (the leftmost of equals)."""
    values, columns = matrix.max(dim=1)
    for row, (value, column) in enumerate(zip(values.tolist(), columns.tolist(), strict=True)):
        if value > 0:
            yield row, column


def pharaoh(links: Sequence[Link], weights: Sequence[float] | None = None) -> str:
    """Write links as ``0-0 1-2`` (source-target), or with their weights as ``0-0:0.913 1-2:0.402``."""
    if weights is None:
        return " ".join(f"{s}-{t}" for s, t in links)
    return " ".join(f"{s}-{t}:{weight:.3f}" for (s, t), weight in zip(links, weights, strict=True))
