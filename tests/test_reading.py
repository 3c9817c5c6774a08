"""Where alignments are read."""

import pytest

from translator.errors import UserError
from translator.reading import Reading, choose_reading


def test_the_default_is_the_mean_over_the_middle_layer_rounded_up() -> None:
    assert choose_reading([2, 3, 5, 7], None, None, None) == Reading(2, (0, 1, 2, 3, 4))
    assert choose_reading([2, 3, 5], None, None, None) == Reading(1, (0, 1, 2))
    assert choose_reading([3], None, None, None) == Reading(0, (0, 1, 2))


def test_what_the_bundle_stores_is_the_default_and_the_best() -> None:
    stored = {"layer": 1, "heads": [2, 0], "step": "input"}
    best = Reading.from_config(stored)

    assert best is not None
    assert best.to_config() == stored
    assert Reading.from_config({"layer": 1, "heads": [2, 0]}) == Reading(1, (2, 0), "output")
    assert best == Reading(1, (2, 0), "input")
    assert choose_reading([3, 3, 3], None, None, best) == best
    assert choose_reading([3, 3, 3], None, "best", best) == best
    assert choose_reading([3, 3, 3], None, "mean", best) == Reading(1, (0, 1, 2))
    assert choose_reading([3, 3, 3], 0, None, best) == Reading(0, (0, 1, 2))
    assert choose_reading([3, 3, 3], None, (1,), best) == Reading(1, (1,))
    assert choose_reading([3, 3, 3], 1, None, best) == best
    assert choose_reading([3, 3, 3], None, None, best, "output") == Reading(1, (2, 0), "output")
    assert choose_reading([3, 3, 3], 0, None, None, "input") == Reading(0, (0, 1, 2), "input")
    assert Reading.from_config(None) is None


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
