"""How much memory a process has taken at most. Imports torch for a GPU alone, as `timing` does."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

MEGABYTE = 1024 * 1024


def restart_peak() -> None:
    """Let the peak start anew from what this process holds now, where Linux can do so."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists():
        forget.write_text("5", encoding="ascii")


def peak_bytes() -> int:
    """The largest resident memory of this process so far, or since `restart_peak`.

    Linux hands ``ru_maxrss`` on from the process that started this one, so what the kernel says of this program
    alone (VmHWM) is preferred where it can be read.
    """
    status = Path("/proc/self/status")
    found = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE) if status.exists() else None
    if found:
        return int(found[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class PeakMemory:
    """The peak from here on, beside what the process had taken before: libraries, weights, data."""

    def __init__(self) -> None:
        self.baseline = peak_bytes()

    def row(self, device: "torch.device | None" = None) -> dict[str, float]:
        """Megabytes: ``baseline_mb`` at most before, ``peak_mb`` in all, ``added_mb`` the difference.

        On a GPU also ``gpu_peak_mb``, the most that tensors have held there.
        """
        peak = peak_bytes()
        figures = {"baseline_mb": self.baseline, "peak_mb": peak, "added_mb": peak - self.baseline}
        if device is not None and device.type == "cuda":
            import torch

            figures["gpu_peak_mb"] = torch.cuda.max_memory_allocated(device)
        return {name: round(value / MEGABYTE, 1) for name, value in figures.items()}
