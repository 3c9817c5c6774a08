"""Figures of weights that a human can check."""

import math

import pytest
import torch

from translator.data.tokenizer import Tokenizer
from translator.inspection.heads.rank_correlation import ranks, spearman
from translator.inspection.heads.statistics import punctuation, similarity, weight_sums
from translator.inspection.tables import aligned, number

T = 5


def heads() -> torch.Tensor:
    """Weights (1, 4, T, T): alike everywhere; the same place; the one before; the one after (the edges stay put)."""
    before = torch.eye(T).roll(-1, 1).tril()
    before[0, 0] = 1.0
    return torch.stack([torch.full((T, T), 1 / T), torch.eye(T), before, before.flip(0, 1)])[None]


@pytest.mark.parametrize("real", [T, 3])
def test_each_figure_is_what_its_name_says(real):
    marks = {"first": torch.tensor([[True, False, False, False, False]])}
    sums = weight_sums(heads(), (torch.arange(T) < real)[None], marks)
    means = {name: (total / real).tolist() for name, total in sums.items()}
    assert means["entropy"] == pytest.approx([math.log(T), 0, 0, 0])
    far = sum(abs(k - q) for q in range(real) for k in range(T)) / (T * real)
    moved = (real - 1) / real  # the first query has nothing before it
    ahead = min(real, T - 1) / real  # the last of all has nothing after it
    assert means["distance"] == pytest.approx([far, 0, moved, ahead])
    assert means["same"] == pytest.approx([1 / T, 1, 1 - moved, 1 - ahead])
    assert means["previous"][1:] == pytest.approx([0, moved, 0])
    assert means["next"][1:] == pytest.approx([0, 0, ahead])
    assert means["first"] == pytest.approx([1 / T, 1 / real, min(real, 2) / real, 0])


def test_similarity_is_one_for_the_same_and_nothing_for_heads_that_share_no_key():
    weights = torch.stack([torch.eye(3), torch.eye(3), torch.eye(3).roll(1, 1), torch.full((3, 3), 1 / 3)])[None]
    found = similarity(weights, torch.tensor([[True, True, False]])) / 2
    assert torch.equal(found, found.t())
    # Against one key of three: m = (2/3, 1/6, 1/6), so H(m) - (0 + ln 3) / 2 in bits.
    divergence = (2 / 3 * math.log(3 / 2) + 1 / 3 * math.log(6) - math.log(3) / 2) / math.log(2)
    expected = [[1, 1, 0, 1 - divergence], [1, 1, 0, 1 - divergence], [0, 0, 1, 1 - divergence]]
    torch.testing.assert_close(found[:3], torch.tensor(expected), atol=1e-6, rtol=0)


def test_punctuation_is_what_holds_nothing_else(toy_tokenizer: Tokenizer) -> None:
    marked = punctuation(toy_tokenizer)
    pieces = toy_tokenizer.pieces(range(toy_tokenizer.vocab_size))
    found = {piece for piece, mark in zip(pieces, marked.tolist(), strict=True) if mark}
    assert "," in found
    assert found <= {",", "/", "▁,"}


def test_equal_values_share_their_ranks():
    assert ranks(torch.tensor([3.0, 1.0, 3.0, 7.0])).tolist() == [2.5, 1.0, 2.5, 4.0]


def test_spearman_by_hand():
    x = torch.tensor([106.0, 100, 86, 101, 99, 103, 97, 113, 112, 110])
    y = torch.tensor([7.0, 27, 2, 50, 28, 29, 20, 12, 6, 17])
    # Rank differences 1 -> sum d^2 = 194, so 1 - 6 * 194 / (10 * 99) = -0.17576.
    assert float(spearman(x, y)) == pytest.approx(1 - 6 * 194 / 990)
    both = spearman(torch.stack([x, -x, x.square()]), x)
    assert both.tolist() == pytest.approx([1, -1, 1])
    tied = spearman(torch.tensor([1.0, 2, 2, 3]), torch.tensor([1.0, 2, 3, 4]))  # ranks 1 2.5 2.5 4 against 1 2 3 4
    assert float(tied) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert spearman(torch.ones(4), torch.arange(4.0)).isnan()


def test_tables_are_aligned():
    assert aligned([["head", "x"], ["a", "+1.50"], ["bb", "-"]]) == ["head      x", "a     +1.50", "bb        -"]
    assert [number(None, 2), number(math.nan, 2), number(1.5, 1), number(1.5, 2, signed=True)] == [
        "-",
        "-",
        "1.5",
        "+1.50",
    ]
