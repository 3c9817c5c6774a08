"""Averaged weights: what is validated, kept and shipped."""

from typing import Any

import torch
from lightning.pytorch.callbacks import WeightAveraging
from torch import Tensor


class MovingAverage(WeightAveraging):
    """An exponential moving average of the weights after every update (Polyak 1992; Vaswani 2017, 5.4 averages too).

    The decay rises to ``decay`` as min(decay, (1 + n) / (10 + n)) after n updates, so that a short training is not
    held back by its random start.
    """

    def __init__(self, decay: float) -> None:
        def average(averaged: Any, current: Any, n_averaged: Tensor | int) -> None:
            n = int(n_averaged)
            torch._foreach_lerp_(averaged, current, 1.0 - min(decay, (1 + n) / (10 + n)))

        super().__init__(use_buffers=False, multi_avg_fn=average)
