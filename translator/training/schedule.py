"""Learning-rate schedules: factors of the peak rate as pure functions of the number of updates done."""

import math
from collections.abc import Callable

from translator.training.config import ScheduleConfig

Schedule = Callable[[int], float]


def schedule(config: ScheduleConfig, total_updates: int) -> Schedule:
    """The factor of the update that follows ``update`` finished ones; linear warm-up, so the first is above 0.

    After the warm-up: ``inverse_sqrt`` falls with 1 / sqrt(update) (Vaswani 2017, 5.3) and needs no end in sight;
    ``cosine`` falls to zero at ``total_updates`` (Loshchilov 2017, 1608.03983); ``constant`` stays.
    """
    warmup = max(config.warmup, 1)

    def after_warmup(update: int) -> float:
        if config.kind == "inverse_sqrt":
            return math.sqrt(warmup / (update + 1))
        if config.kind == "cosine":
            progress = (update + 1 - warmup) / max(total_updates - warmup, 1)
            return 0.5 * (1.0 + math.cos(math.pi * min(progress, 1.0)))
        return 1.0

    return lambda update: (update + 1) / warmup if update + 1 <= warmup else after_warmup(update)
