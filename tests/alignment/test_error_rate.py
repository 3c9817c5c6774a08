"""Error rates that were worked out by hand, and a model whose cross-attention is known."""

import pytest
import torch

from tests import toy
from tests.inspection.known import KnownModel
from translator.alignment.error_rate import Rates, alignment_error_rate
from translator.alignment.reading import LayerHeads, Reading
from translator.data.tokenizer import Tokenizer
from translator.inference.translator import Translator
from translator.inspection.readings import links_by_reading, readings_of

LINES = toy.sentences(5, seed=3, longest=6)


def test_rates_of_sure_and_possible_links_by_hand() -> None:
    """Found 4; sure 3, of which 2 are found; of the found, 3 are possible: AER = 1 - (2 + 3) / (4 + 3)."""
    found = [[(0, 0), (1, 1), (2, 1), (4, 4)]]
    sure = [[(0, 0), (1, 1), (3, 3)]]
    possible = [[(0, 0), (1, 1), (3, 3), (2, 1), (2, 2)]]

    rates = alignment_error_rate(found, sure, possible)

    assert rates == Rates(aer=pytest.approx(2 / 7), precision=3 / 4, recall=pytest.approx(2 / 3))


def test_links_are_counted_over_the_corpus_before_anything_is_divided() -> None:
    """A sentence with 1 of 1 right and one with 1 of 3: the mean of both error rates would be 1/3."""
    found = [[(0, 0)], [(0, 0), (1, 0), (2, 0)]]
    sure = [[(0, 0)], [(0, 0), (1, 1), (2, 2)]]

    assert alignment_error_rate(found, sure, sure) == Rates(aer=0.5, precision=0.5, recall=0.5)


def test_a_sure_link_is_possible_whether_or_not_it_is_said_to_be() -> None:
    assert alignment_error_rate([[(0, 0)]], [[(0, 0)]], [[]]) == Rates(0.0, 1.0, 1.0)


def test_links_that_are_given_twice_count_once() -> None:
    assert alignment_error_rate([[(0, 0), (0, 0)]], [[(0, 0)]], [[(0, 0)]]).aer == 0.0


def test_possible_links_are_not_missed_and_cost_nothing() -> None:
    assert alignment_error_rate([[]], [[]], [[(0, 0)]]) == Rates(0.0, 1.0, 1.0)
    assert alignment_error_rate([[(0, 0)]], [[]], [[(0, 0)]]) == Rates(0.0, 1.0, 1.0)
    assert alignment_error_rate([[]], [[(0, 0)]], [[]]) == Rates(1.0, 1.0, 0.0)


def test_corpora_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        alignment_error_rate([[]], [[], []], [[], []])


def test_known_attention_is_read_at_the_right_place_and_step(toy_tokenizer: Tokenizer) -> None:
    """Layer 0 looks at the same piece when it writes, in head 1 at the last; layer 1 when it reads."""
    translator = Translator(KnownModel(toy_tokenizer), toy_tokenizer)
    words = [len(line.split()) for line in LINES]

    readings = readings_of([2, 2])

    found = links_by_reading(translator, LINES, LINES, readings)

    assert list(found) == readings
    diagonal = [[(i, i) for i in range(n)] for n in words]
    assert found[Reading.at(0, (0,), "output")] == diagonal
    assert found[Reading.at(1, (0,), "input")] == diagonal
    assert found[Reading.at(0, (0,), "input")] != diagonal
    assert found[Reading.at(1, (0,), "output")] != diagonal
    marked = [not line[-1].isalnum() for line in LINES]  # the last piece is a mark, which does not speak for its word
    last = [[] if mark else [(n - 1, i) for i in range(n)] for n, mark in zip(words, marked, strict=True)]
    assert 0 < sum(marked) < len(LINES)
    assert found[Reading.at(0, (1,), "output")] == found[Reading.at(0, (1,), "input")] == last
    assert found[Reading.at(0, (0, 1), "output")] == diagonal  # head 0 is surer than head 1


def test_one_pass_gives_what_align_gives_reading_by_reading(flat_translator: Translator) -> None:
    sources = [*LINES, "", "zono waba"]
    targets = [*map(toy.expected, LINES), "DI", ""]

    readings = readings_of(flat_translator.cross_heads())

    found = links_by_reading(flat_translator, sources, targets, readings)

    assert len(found) == (2 * (4 + 1) + 1) * 2
    for reading, links in found.items():
        reader = Translator(flat_translator.model, flat_translator.tokenizer, reading)
        assert links == [alignment.links for alignment in reader.align(sources, targets)]


def test_single_heads_layers_and_neighbouring_layers_are_read() -> None:
    """The third layer has one head, so that its mean is no reading of its own; the second has none."""
    readings = readings_of([2, 0, 1, 2])

    a, c, d = LayerHeads(0, (0, 1)), LayerHeads(2, (0,)), LayerHeads(3, (0, 1))
    heads = [LayerHeads(0, (0,)), LayerHeads(0, (1,)), c, LayerHeads(3, (0,)), LayerHeads(3, (1,))]
    several = [(a,), (d,), (a, c), (c, d), (a, c, d)]
    assert [r.places for r in readings if r.step == "output"] == [*((head,) for head in heads), *several]
    assert [r.places for r in readings if r.step == "input"] == [*((head,) for head in heads), *several]
    assert readings_of([0, 0]) == []


def test_the_known_model_attends_with_probabilities(toy_tokenizer: Tokenizer) -> None:
    weights = Translator(KnownModel(toy_tokenizer), toy_tokenizer).cross_attention(LINES[:1], LINES[:1])[0][0]

    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:2]))
