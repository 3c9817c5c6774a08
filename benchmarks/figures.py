"""Several measurements of one thing as a few honest numbers. Standard library only."""

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.nn import Module


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """The median under ``name``, and beside it the extremes: one slow round of a busy machine must show, not count."""
    return {name: statistics.median(values), f"{name}_min": min(values), f"{name}_max": max(values)}


def rate(name: str, count: int, seconds: Sequence[float]) -> dict[str, float]:
    """So many a second, of a count that every round has worked through."""
    return spread(name, [count / value for value in seconds])


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The p of the power law cost = c * size^p that fits best: least squares over the logarithms.

    0 is flat, 1 linear, 2 quadratic. Costs that are not positive say nothing and are left out; NaN where there are
    then fewer than two different sizes.
    """
    points = [(math.log(size), math.log(cost)) for size, cost in zip(sizes, costs, strict=True) if cost > 0]
    if len({size for size, _ in points}) < 2:
        return math.nan
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def parameters(model: "Module") -> int:
    """Trainable numbers; tied ones count once."""
    return sum(parameter.numel() for parameter in model.parameters())
