"""Learning-rate schedules: the published formulas, without a jump."""

import math
from collections.abc import Callable

import pytest

from translator.training.config import ScheduleConfig
from translator.training.step import schedule

WARMUP, TOTAL = 13, 101
KINDS = ("inverse_sqrt", "cosine", "constant")


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_rises_linearly_from_above_zero_to_its_peak(kind: str) -> None:
    factor = schedule(ScheduleConfig(kind, WARMUP), TOTAL)
    assert [factor(done) for done in range(WARMUP)] == pytest.approx([(done + 1) / 13 for done in range(13)])


@pytest.mark.parametrize(
    ("kind", "formula"),
    [
        ("inverse_sqrt", lambda number: math.sqrt(13 / number)),
        ("cosine", lambda number: (1 + math.cos(math.pi * (number - 13) / 88)) / 2),
        ("constant", lambda number: 1.0),
    ],
)
def test_after_the_warm_up_the_rate_of_an_update_follows_the_formula(
    kind: str, formula: Callable[[int], float]
) -> None:
    factor = schedule(ScheduleConfig(kind, WARMUP), TOTAL)
    for number in range(WARMUP + 1, TOTAL + 1):
        assert factor(number - 1) == pytest.approx(formula(number), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_does_not_jump_where_the_warm_up_ends(kind: str) -> None:
    factor = schedule(ScheduleConfig(kind, WARMUP), TOTAL)
    assert factor(WARMUP - 1) == 1.0
    assert 0.95 < factor(WARMUP) <= 1.0


def test_a_cosine_reaches_zero_at_the_last_update_and_stays_there() -> None:
    factor = schedule(ScheduleConfig("cosine", WARMUP), TOTAL)
    assert factor(TOTAL - 2) > 1e-5
    assert factor(TOTAL - 1) == pytest.approx(0.0, abs=1e-15)
    assert factor(3 * TOTAL) == 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("warmup", "total"), [(0, 5), (1, 5), (5, 5), (7, 5), (0, 1)])
def test_odd_lengths_give_rates_between_zero_and_the_peak(kind: str, warmup: int, total: int) -> None:
    factor = schedule(ScheduleConfig(kind, warmup), total)
    assert factor(0) > 0.0
    assert all(0.0 <= factor(done) <= 1.0 for done in range(9))
