"""A statistical aligner to compare with: IBM Model 1 with a liking for the diagonal (Dyer et al. 2013, "A Simple, Fast,
and Effective Reparameterization of IBM Model 2").

Target word e_i (of m) comes from source word f_j (of n) or from nothing:

    p(e_i, a_i = j | f) = p(a_i = j | i, m, n) t(e_i | f_j),   p(a_i = nothing) = P0,
    p(a_i = j | i, m, n) = (1 - P0) exp(L h(i, j, m, n)) / Z,   h = -|i / m - j / n|

t and the tension L are found by expectation maximisation; t is kept from overfitting by the variational step of
section 3.1 with a symmetric Dirichlet prior A.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from translator.alignment.links import Link
from translator.alignment.symmetrization import flipped
from translator.data.tokenizer import USER_WORD

P0, PRIOR = 0.08, 0.01
ROUNDS = 5
TENSION, LEAST, MOST = 4.0, 0.1, 14.0
CLIMBS, RATE = 8, 20.0  # steps of gradient ascent on the tension a round


@dataclass(frozen=True)
class _Cells:
    """Every way in which a target word of the text may have come about, one entry a way (C)."""

    row: Tensor  # which target word of the text
    source: Tensor  # position of the source word; -1 is nothing
    closeness: Tensor  # h, 0 for nothing
    kind: Tensor  # which pair of types, (source type, target type)
    source_of_kind: Tensor  # (kinds) the source type of each such pair


def align_statistically(
    sources: Sequence[str], targets: Sequence[str], more: tuple[Sequence[str], Sequence[str]] = ((), ())
) -> list[list[Link]]:
    """Links of the given pairs, learned from them and from ``more`` pairs; each target word has one link at most.

    Words are what stands between spaces and tabs; their case is ignored.
    """
    pairs = [
        (_words(source), _words(target))
        for source, target in zip([*sources, *more[0]], [*targets, *more[1]], strict=True)
    ]
    links: list[list[Link]] = [[] for _ in sources]
    cells = _cells(pairs)
    best = _best(cells, _expect_and_maximise(cells))  # (rows)
    place = [(index, t) for index, (source, target) in enumerate(pairs) if source for t in range(len(target))]
    for (index, t), s in zip(place, best.tolist(), strict=True):
        if s >= 0 and index < len(links):
            links[index].append((s, t))
    return links


def align_both_ways(
    sources: Sequence[str], targets: Sequence[str], more: tuple[Sequence[str], Sequence[str]] = ((), ())
) -> tuple[list[list[Link]], list[list[Link]]]:
    """Links found for each target word, and those found for each source word, all as (source, target)."""
    backward = align_statistically(targets, sources, (more[1], more[0]))
    return align_statistically(sources, targets, more), flipped(backward)


def plain_diagonal(sources: Sequence[str], targets: Sequence[str]) -> list[list[Link]]:
    """What anybody can do: each target word is linked with the source word at the same share of the sentence."""
    found = []
    for source, target in zip(sources, targets, strict=True):
        n, m = len(_words(source)), len(_words(target))
        found.append([((2 * t + 1) * n // (2 * m), t) for t in range(m) if n])
    return found


def _words(line: str) -> list[str]:
    return [word.casefold() for word in USER_WORD.findall(line)]


def _cells(pairs: Sequence[tuple[list[str], list[str]]]) -> _Cells:
    source_types: dict[str, int] = {"": 0}  # no word is empty: this is nothing
    target_types: dict[str, int] = {}
    rows, positions, closeness, sources, targets = [], [], [], [], []
    n_rows = 0
    for source, target in pairs:
        if not source or not target:
            continue
        n, m = len(source), len(target)
        f = torch.tensor([0, *(source_types.setdefault(word, len(source_types)) for word in source)])  # (n + 1)
        e = torch.tensor([target_types.setdefault(word, len(target_types)) for word in target])  # (m)
        h = -(torch.arange(1, m + 1)[:, None] / m - torch.arange(n + 1)[None, :] / n).abs()  # (m, n + 1)
        h[:, 0] = 0.0
        rows.append(torch.arange(n_rows, n_rows + m).repeat_interleave(n + 1))
        positions.append(torch.arange(-1, n).repeat(m))
        closeness.append(h.flatten())
        sources.append(f.repeat(m))
        targets.append(e.repeat_interleave(n + 1))
        n_rows += m
    if not rows:
        none = torch.empty(0, dtype=torch.long)
        return _Cells(none, none, torch.empty(0), none, none)
    pair = torch.cat(sources) * len(target_types) + torch.cat(targets)
    kinds, kind = pair.unique(return_inverse=True)
    return _Cells(torch.cat(rows), torch.cat(positions), torch.cat(closeness), kind, kinds // len(target_types))


def _expect_and_maximise(cells: _Cells) -> Tensor:
    """Posterior probability (C) of each way, after training."""
    # All probabilities of a word's translations start equal, so the constant cancels.
    translation = torch.ones(len(cells.source_of_kind))
    tension = TENSION
    posterior = _posterior(cells, translation, tension)
    for _ in range(ROUNDS):
        counts = torch.zeros_like(translation).index_add_(0, cells.kind, posterior) + PRIOR
        totals = _sums(counts, cells.source_of_kind)[cells.source_of_kind]
        translation = (counts.digamma() - totals.digamma()).exp()
        tension = _better_tension(cells, posterior, tension)
        posterior = _posterior(cells, translation, tension)
    return posterior


def _posterior(cells: _Cells, translation: Tensor, tension: float) -> Tensor:
    joint = _position(cells, tension) * translation[cells.kind]
    return joint / _sums(joint, cells.row)[cells.row].clamp_min(1e-30)


def _position(cells: _Cells, tension: float) -> Tensor:
    """p(a_i = j | i, m, n) of each way (C)."""
    nothing = cells.source < 0
    score = (tension * cells.closeness).exp().masked_fill(nothing, 0.0)
    return ((1 - P0) * score / _sums(score, cells.row)[cells.row]).masked_fill(nothing, P0)


def _better_tension(cells: _Cells, posterior: Tensor, tension: float) -> float:
    """Some steps up the gradient of the expected log p(a): expected closeness under the posterior, less the model's."""
    real = cells.source >= 0
    weight = _sums(posterior * real, cells.row)[cells.row]  # what of the target word does not come from nothing
    wanted = (posterior * real * cells.closeness).sum()
    n_rows = int(cells.row[-1]) + 1 if len(cells.row) else 1
    for _ in range(CLIMBS):
        given = (weight * _position(cells, tension) / (1 - P0) * real * cells.closeness).sum()
        tension += RATE * float(wanted - given) / n_rows
        tension = min(max(tension, LEAST), MOST)
    return tension


def _best(cells: _Cells, posterior: Tensor) -> Tensor:
    """The source position that each target word most probably comes from, the first of equals -> (rows)."""
    n_rows = int(cells.row[-1]) + 1 if len(cells.row) else 0
    top = torch.zeros(n_rows).scatter_reduce_(0, cells.row, posterior, "amax")
    wins = posterior == top[cells.row]
    found = torch.full((n_rows,), torch.iinfo(torch.long).max)
    return found.scatter_reduce_(0, cells.row[wins], cells.source[wins], "amin")


def _sums(values: Tensor, groups: Tensor) -> Tensor:
    n_groups = int(groups.max()) + 1 if len(groups) else 0
    return torch.zeros(n_groups).index_add_(0, groups, values)
