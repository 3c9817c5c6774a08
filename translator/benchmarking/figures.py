"""Several measurements of one thing as a few honest numbers. Standard library only."""

import math
import statistics
from collections.abc import Sequence


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """The median under ``name``, and beside it the extremes: one slow round of a busy machine must show, not count."""
    return {name: statistics.median(values), f"{name}_min": min(values), f"{name}_max": max(values)}


def rate(name: str, count: int, seconds: Sequence[float]) -> dict[str, float]:
    """So many a second, of a count that every round has worked through."""
    return spread(name, [count / value for value in seconds])


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The p of the power law cost = c * size^p that fits best: least squares over the logarithms.

    0 is flat, 1 linear, 2 quadratic. NaN where there are fewer than two different sizes.
    """
    if len(set(sizes)) < 2:
        return math.nan
    return statistics.linear_regression([math.log(s) for s in sizes], [math.log(c) for c in costs]).slope
