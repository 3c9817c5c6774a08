"""How often and where to measure, and how time is taken. Imports torch for a GPU alone: any program can be measured."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import torch

_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True)
class Job:
    """What every measurement of a model is told besides what to measure."""

    precision: str = "float32"
    device: str = "auto"
    threads: int | None = None
    rounds: int = 3
    profile: bool = False

    def told(self, *names: str) -> dict[str, Any]:
        """Fields of these names, for a row."""
        return {name: getattr(self, name) for name in names}


def timed(
    work: Callable[[], _Result], rounds: int, device: "torch.device | None" = None
) -> tuple[list[float], _Result]:
    """Seconds of each round, one at least, and what the last has brought; a GPU is waited for at both ends."""
    seconds = []
    for _ in range(rounds):
        synchronize(device)
        began = time.perf_counter()
        result = work()
        synchronize(device)
        seconds.append(time.perf_counter() - began)
    return seconds, result


def synchronize(device: "torch.device | None") -> None:
    """Wait until the device has done all that it was given; a CPU has."""
    if device is not None and device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)
