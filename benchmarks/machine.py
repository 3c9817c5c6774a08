"""How time is taken, on a GPU as well."""

import time
from collections.abc import Callable

import torch

from benchmarks.memory import MEGABYTE


def timed(work: Callable[[], object], rounds: int, device: torch.device) -> list[float]:
    """Seconds of each round; a GPU's queue is waited for at both ends."""
    seconds = []
    for _ in range(rounds):
        synchronize(device)
        began = time.perf_counter()
        work()
        synchronize(device)
        seconds.append(time.perf_counter() - began)
    return seconds


def synchronize(device: torch.device) -> None:
    """Wait until the device has done all that it was given; a CPU has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def gpu_memory(device: torch.device) -> dict[str, float]:
    """The most memory that tensors have held on a GPU, in megabytes; nothing for a CPU."""
    if device.type != "cuda":
        return {}
    return {"gpu_peak_mb": round(torch.cuda.max_memory_allocated(device) / MEGABYTE, 1)}
