"""How good links are: the alignment error rate (Och & Ney 2003), and the links of every place of a model to be judged.

Gold links are sure (S) or possible (P), and every sure link is possible, too. Of found links A:

    precision = |A n P| / |A|,   recall = |A n S| / |S|,   AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch

from translator.alignment import Link, drop_last_column, link_words, spoken
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


def readings_of(heads_of_layers: Sequence[int]) -> list[Reading]:
    """Every head, the mean of every layer, and that of every run of neighbouring layers, at both steps.

    ``heads_of_layers`` says how many heads each decoder layer has; a layer without heads is passed over.
    """
    layers = [layer for layer, count in enumerate(heads_of_layers) if count]
    places = [Reading.at(layer, [head]).places for layer in layers for head in range(heads_of_layers[layer])]
    runs = sorted((layers[i:j] for i, j in combinations(range(len(layers) + 1), 2)), key=len)
    places += [Reading.across(heads_of_layers, run).places for run in runs]
    return [Reading(place, step) for place in dict.fromkeys(places) for step in ALIGN_STEPS]


def links_by_reading(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], readings: Sequence[Reading]
) -> dict[Reading, list[list[Link]]]:
    """Hard links between words of given pairs, at each of some readings.

    The same links that `Translator.align` gives for each of them, in one pass for all. Raises UserError as
    `Translator.score` does.
    """
    found: dict[Reading, list[list[Link]]] = {reading: [] for reading in readings}
    for start in range(0, len(sources), CHUNK):
        pairs = sources[start : start + CHUNK], targets[start : start + CHUNK]
        for source, target, layers in zip(*pairs, translator.cross_attention(*pairs), strict=True):
            rows = torch.stack([reading.rows(layers) for reading in readings])  # (readings, T, S + 1)
            matrices = spoken(drop_last_column(rows), translator.side(source), translator.side(target))
            for reading, matrix in zip(readings, matrices, strict=True):
                found[reading].append(link_words(matrix))
    return found
