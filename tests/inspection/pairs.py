"""A pair with weights made by hand, for what draws attention: no model is needed."""

import torch
from torch import Tensor

from translator.alignment.reading import Reading
from translator.inspection.pair import PairAttention, words_of

SOURCE, TARGET = "the dog barks", "der Hund bellt"
#: Some words are two pieces, so that words and pieces differ.
SOURCE_PIECES, SOURCE_WORDS = ["▁the", "▁do", "g", "▁barks"], [0, 1, 1, 2]
TARGET_PIECES, TARGET_WORDS = ["▁der", "▁Hun", "d", "▁bell", "t"], [0, 1, 1, 2, 2]


def made_pair(reading: Reading | None = None) -> PairAttention:
    """Two decoder layers of three and two heads, one encoder layer of two."""
    torch.manual_seed(3)
    target, source = len(TARGET_PIECES) + 1, len(SOURCE_PIECES) + 1
    ahead = torch.ones(target, target).triu(1).bool()
    return PairAttention(
        SOURCE,
        TARGET,
        [*SOURCE_PIECES, "</s>"],
        [*TARGET_PIECES, "</s>"],
        [probabilities(heads, target, source) for heads in (3, 2)],
        reading or Reading.at(1, (1,)),
        links=[],
        encoder=[probabilities(2, source, source)],
        decoder=[probabilities(2, target, target, hidden=ahead) for _ in range(2)],
        source_words=SOURCE_WORDS,
        target_words=TARGET_WORDS,
    )


def pair_of_words(source: str, target: str, heads: int = 2, layers: int = 1) -> PairAttention:
    """A pair whose words are one piece each; the n-th target word looks mostly at the n-th source word."""
    torch.manual_seed(3)
    sides = [[f"▁{word}" for word in words_of(text)] for text in (source, target)]
    columns, rows = (len(side) + 1 for side in sides)
    diagonal = 4.0 * torch.eye(rows, columns)
    return PairAttention(
        source,
        target,
        [*sides[0], "</s>"],
        [*sides[1], "</s>"],
        [probabilities(heads, rows, columns, towards=diagonal) for _ in range(layers)],
        Reading.at(0, tuple(range(heads))),
        links=[],
        encoder=[probabilities(heads, columns, columns)],
        decoder=[probabilities(heads, rows, rows, hidden=torch.ones(rows, rows).triu(1).bool())],
        source_words=list(range(columns - 1)),
        target_words=list(range(rows - 1)),
    )


def probabilities(
    heads: int, rows: int, columns: int, hidden: Tensor | None = None, towards: Tensor | None = None
) -> Tensor:
    """Random weights (heads, rows, columns) whose rows sum to 1."""
    scores = torch.randn(heads, rows, columns)
    if towards is not None:
        scores = scores + towards
    if hidden is not None:
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(dim=-1)
