"""How good links are: the alignment error rate (Och & Ney 2003), and the links of every place of a model to be judged.

Gold links are sure (S) or possible (P), and every sure link is possible, too. Of found links A:

    precision = |A n P| / |A|,   recall = |A n S| / |S|,   AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from translator.alignment import Link, at_step, merge_links
from translator.inference import Translator
from translator.options import ALIGN_STEPS
from translator.reading import Reading

Links = Sequence[Collection[Link]]  # of each sentence pair

#: Pairs whose attention is held at once: that of all layers and heads is large.
CHUNK = 256


@dataclass(frozen=True)
class Rates:
    """All from 0 to 1; less is better for the error rate, more for the other two."""

    aer: float
    precision: float
    recall: float


def alignment_error_rate(links: Links, sure: Links, possible: Links) -> Rates:
    """Rates over a corpus: links are counted over all pairs before anything is divided.

    A sure link that is not among the possible ones is taken as possible. Where nothing is found no link is wrong
    (precision 1), and where nothing is sure none is missed (recall 1). Raises ValueError for unequal lengths.
    """
    found = wanted = hits = near_hits = 0
    for a, s, p in zip(map(set, links), map(set, sure), map(set, possible), strict=True):
        found += len(a)
        wanted += len(s)
        hits += len(a & s)
        near_hits += len(a & (p | s))
    return Rates(
        aer=1 - (hits + near_hits) / (found + wanted) if found + wanted else 0.0,
        precision=near_hits / found if found else 1.0,
        recall=hits / wanted if wanted else 1.0,
    )


def links_by_reading(
    translator: Translator, sources: Sequence[str], targets: Sequence[str]
) -> dict[Reading, list[list[Link]]]:
    """Hard links between words of given pairs, by layer, head and step; the mean of a layer's heads counts as one more.

    The same links that `Translator.align` gives for each of these readings, in one pass for all of them. Raises
    UserError as `Translator.score` does.
    """
    found: dict[Reading, list[list[Link]]] = {}
    words = translator.tokenizer.encode_with_words
    for start in range(0, len(sources), CHUNK):
        pairs = sources[start : start + CHUNK], targets[start : start + CHUNK]
        for source, target, layers in zip(*pairs, translator.cross_attention(*pairs), strict=True):
            for reading, links in _of_pair(layers, words(source)[1], words(target)[1]):
                found.setdefault(reading, []).append(links)
    return found


def _of_pair(
    layers: Sequence[Tensor], source_words: Sequence[int], target_words: Sequence[int]
) -> Iterator[tuple[Reading, list[Link]]]:
    """Every reading of a pair with its links, from weights (H, T + 1, S + 1) of each layer."""
    for layer, weights in enumerate(layers):
        heads: list[tuple[int, ...]] = [(head,) for head in range(len(weights))]
        if len(heads) > 1:
            heads.append(tuple(range(len(weights))))
            weights = torch.cat([weights, weights.mean(dim=0, keepdim=True)])  # noqa: PLW2901
        for step in ALIGN_STEPS:
            for chosen, matrix in zip(heads, at_step(weights, step), strict=True):
                yield Reading(layer, chosen, step), merge_links(_hard(matrix), source_words, target_words)


def _hard(matrix: Tensor) -> list[Link]:
    """Weights (T, S + 1) -> the best source piece of each target piece; the end of sentence is no source piece."""
    if matrix.shape[1] == 1:
        return []
    best, columns = matrix[:, :-1].max(dim=1)
    return [(s, t) for t, (s, weight) in enumerate(zip(columns.tolist(), best.tolist(), strict=True)) if weight > 0]
