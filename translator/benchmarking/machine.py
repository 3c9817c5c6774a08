"""What a figure depends on besides the code, and how time is taken."""

import os
import platform
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import torch

from translator.benchmarking.memory import MEGABYTE


def surroundings(device: torch.device) -> dict[str, Any]:
    """Versions, processors and device; without them no figure means anything."""
    return {
        "versions": {
            "translator": _own_version(),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "threads": torch.get_num_threads(),
        "cpus": os.cpu_count(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
    }


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


def _own_version() -> str | None:
    try:
        return metadata.version("translator")
    except metadata.PackageNotFoundError:
        return None
