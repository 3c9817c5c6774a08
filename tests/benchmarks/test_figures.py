"""Medians, rates and exponents."""

import math

import pytest

from benchmarks.figures import exponent, rate, spread


def test_one_slow_round_shows_and_does_not_count() -> None:
    assert spread("seconds", [3.0, 90.0, 1.0]) == {"seconds": 3.0, "seconds_min": 1.0, "seconds_max": 90.0}


def test_a_rate_is_of_the_same_work_in_each_round() -> None:
    assert rate("tokens", 12, [2.0, 6.0, 4.0]) == {"tokens": 3.0, "tokens_min": 2.0, "tokens_max": 6.0}


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, -0.5])
def test_the_exponent_of_a_power_law_is_found(power: float) -> None:
    sizes = [2, 3, 7, 31]
    assert exponent(sizes, [5 * size**power for size in sizes]) == pytest.approx(power, abs=1e-9)


def test_one_size_has_no_exponent() -> None:
    assert math.isnan(exponent([7, 7], [1.0, 2.0]))
