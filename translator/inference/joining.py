"""The last stage: the candidates of a line's parts -> one translation."""

from collections.abc import Sequence
from dataclasses import replace

from translator.alignment.links import Link
from translator.inference.translation import Translation


def join(candidates: Sequence[Sequence[Translation]], subwords: bool) -> Translation:
    """A line from the candidates of its parts: the k-th of each part make up the k-th of the line.

    A part with fewer candidates repeats its last. Texts are joined with a space. With ``subwords``, links count pieces.
    """
    n_best = [
        _concatenate([of_part[min(rank, len(of_part) - 1)] for of_part in candidates], subwords)
        for rank in range(max(map(len, candidates)))
    ]
    return replace(n_best[0], n_best=n_best)


def _concatenate(parts: Sequence[Translation], subwords: bool) -> Translation:
    if len(parts) == 1:
        return parts[0]
    links: list[Link] = []
    before = 0
    for part in parts:
        links += [(s, t + before) for s, t in part.alignment or []]
        before += len(part.tokens) if subwords else len(part.text.split())
    aligned = parts[0].alignment is not None
    return Translation(
        text=" ".join(part.text for part in parts if part.text),
        score=sum(part.score for part in parts) / len(parts),
        tokens=[token for part in parts for token in part.tokens],
        alignment=links if aligned else None,
        weights=[w for part in parts for w in part.weights or []] if aligned else None,
        finished=all(part.finished for part in parts),
    )
