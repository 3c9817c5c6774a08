"""Where alignments are read."""

from dataclasses import replace

import pytest
import torch

from translator.alignment.reading import LayerHeads, Reading, choose_reading
from translator.errors import UserError


def test_the_default_is_the_mean_over_all_heads() -> None:
    everywhere = Reading((LayerHeads(0, (0, 1)), LayerHeads(2, (0, 1, 2))))
    assert choose_reading([2, 0, 3], None, None, None) == choose_reading([2, 0, 3], None, "mean", None) == everywhere
    assert choose_reading([3], None, None, None) == Reading.at(0, (0, 1, 2))


def test_numbers_of_heads_alone_are_those_of_the_middle_layer_rounded_up() -> None:
    assert choose_reading([2, 3, 5, 7], None, (4,), None) == Reading.at(2, (4,))
    assert choose_reading([2, 3, 5], None, (0, 2), None) == Reading.at(1, (0, 2))


def test_what_the_bundle_stores_is_the_default_and_the_best() -> None:
    stored = {"layer": 1, "heads": [2, 0], "step": "input"}
    best = Reading.from_config(stored)

    assert best is not None
    assert best.to_config() == stored
    assert Reading.from_config({"layer": 1, "heads": [2, 0]}) == Reading.at(1, (2, 0), "output")
    assert best == Reading.at(1, (2, 0), "input")
    assert choose_reading([3, 3, 3], None, None, best) == best
    assert choose_reading([3, 3, 3], None, "best", best) == best
    assert choose_reading([3, 3, 3], None, "mean", best) == Reading.across([3, 3, 3], [0, 1, 2])
    assert choose_reading([3, 3, 3], 1, "mean", best) == Reading.at(1, (0, 1, 2))
    assert choose_reading([3, 3, 3], 0, None, best) == Reading.at(0, (0, 1, 2))
    assert choose_reading([3, 3, 3], None, (1,), best) == Reading.at(1, (1,))
    assert choose_reading([3, 3, 3], 1, None, best) == best
    assert choose_reading([3, 3, 3], None, None, best, "output") == Reading.at(1, (2, 0), "output")
    assert choose_reading([3, 3, 3], 0, None, None, "input") == Reading.at(0, (0, 1, 2), "input")
    assert Reading.from_config(None) is None


def test_a_reading_of_several_layers_is_stored_too() -> None:
    best = Reading((LayerHeads(1, (0, 2)), LayerHeads(2, (1,))), "input")
    stored = {"layer": [1, 2], "heads": [[0, 2], [1]], "step": "input"}

    assert best.to_config() == stored
    assert Reading.from_config(stored) == best
    assert choose_reading([3, 3, 3], None, "best", best) == best
    assert choose_reading([3, 3, 3], 1, None, best) == Reading.at(1, (0, 1, 2))  # one layer is not the best


def test_all_places_count_alike_and_rows_are_those_of_the_step() -> None:
    """One head of layer 0, two of layer 2: a mean of means would weigh the first twice."""
    layers = [torch.full((2, 3, 4), weight) for weight in (0.9, 0.0, 0.3)]
    layers[2][:, 2] = 0.6
    reading = Reading((LayerHeads(0, (1,)), LayerHeads(2, (0, 1))))

    assert reading.rows(layers) == pytest.approx(torch.full((2, 4), 0.5))
    assert replace(reading, step="input").rows(layers)[1] == pytest.approx(torch.full((4,), 0.7))
    batch = {layer: weights.expand(5, 2, 3, 4) for layer, weights in enumerate(layers)}
    assert reading.rows(batch).shape == (5, 2, 4)


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        (Reading.at(0, (2,)), "layer 0, head 2, output step"),
        (Reading.at(1, (0, 3), "input"), "layer 1, mean of heads 0, 3, input step"),
        (Reading.across([2, 2], [0, 1]), "layers 0+1, mean of heads 0, 1, output step"),
        (Reading.across([2, 3], [0, 1]), "layers 0+1, mean of 5 heads, output step"),
        (Reading.across([1, 1], [0, 1]), "layers 0+1, mean of heads 0, output step"),
    ],
)
def test_readings_in_words(reading: Reading, words: str) -> None:
    assert str(reading) == words


@pytest.mark.parametrize(
    ("layer", "heads", "message"),
    [
        (2, None, "no decoder layer 2; layers go from 0 to 1"),
        (0, (0, 3), "layer 0 has no head 3; heads go from 0 to 2"),
        (None, "best", "stores no best heads"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_valid_range(
    layer: int | None, heads: str | tuple[int, ...] | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        choose_reading([3, 5], layer, heads, None)
