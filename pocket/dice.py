"""Chance that is the same on every machine and in every Python."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
TRIES = 4


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

    def seldom(self, choices: Sequence[T], names: Sequence[str]) -> T:
        """Of a few random choices the one that came up least so far, so that every word gets its share."""
        roll, uses, count = self._random.random, self._uses, len(choices)
        best = int(roll() * count)
        for _ in range(TRIES - 1):
            other = int(roll() * count)
            if uses.get(names[other], 0) < uses.get(names[best], 0):
                best = other
        uses[names[best]] = uses.get(names[best], 0) + 1
        return choices[best]


def spread(*weighed: tuple[int, T]) -> tuple[T, ...]:
    """Each choice as often as its weight says, to pick from."""
    return tuple(choice for weight, choice in weighed for _ in range(weight))
