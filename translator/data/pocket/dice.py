"""Chance that is the same on every machine and in every Python."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
TRIES = 3


class Dice:
    """Seeded choices; built on `Random.random` alone, whose sequence Python promises to keep."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._uses: dict[str, int] = {}

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def pick(self, choices: Sequence[T]) -> T:
        """Any of the choices, all equally likely."""
        return choices[int(self._random.random() * len(choices))]

    def weighed(self, choices: Sequence[tuple[int, T]]) -> T:
        """One of the choices by weight."""
        left = self._random.random() * sum(weight for weight, _ in choices)
        for weight, choice in choices:
            left -= weight
            if left < 0:
                return choice
        return choices[-1][1]

    def seldom(self, choices: Sequence[T], names: Sequence[str]) -> T:
        """Of a few random choices the one that came up least so far, so that every word gets its share."""
        drawn = [int(self._random.random() * len(choices)) for _ in range(TRIES)]
        best = min(drawn, key=lambda index: self._uses.get(names[index], 0))
        self._uses[names[best]] = self._uses.get(names[best], 0) + 1
        return choices[best]
