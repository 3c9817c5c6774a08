"""Every place of a model where links can be read, and the links that are read there."""

from collections.abc import Sequence
from itertools import combinations

import torch

from translator.alignment.links import Link, drop_last_column, link_words, spoken
from translator.alignment.reading import Reading
from translator.alignment.steps import ALIGN_STEPS
from translator.inference.translator import Translator

#: Pairs whose attention is held at once: that of all layers and heads is large.
CHUNK = 256


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
