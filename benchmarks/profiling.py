"""Where the time of a piece of work goes, by operation."""

import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

ROWS = 15


class Operation(NamedTuple):
    """One kind of operation: its own time, without that of operations it calls."""

    name: str
    calls: int
    microseconds: float


def show_profile(work: Callable[[], object], device: torch.device) -> None:
    """Run the work once more under the profiler and print a short table on stderr."""
    gpu = device.type == "cuda"
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA] if gpu else [ProfilerActivity.CPU]
    with profile(activities=activities) as found:
        work()
    own = "self_device_time_total" if gpu else "self_cpu_time_total"
    events: Iterable[Any] = found.key_averages()
    print("\n".join(table([Operation(e.key, e.count, getattr(e, own)) for e in events])), file=sys.stderr)


def table(operations: Iterable[Operation]) -> list[str]:
    """The operations that take the most time, and what all others take together."""
    ranked = sorted(operations, key=lambda operation: -operation.microseconds)
    total = sum(operation.microseconds for operation in ranked) or 1.0
    shown, rest = ranked[:ROWS], ranked[ROWS:]
    if rest:
        shown.append(Operation("all others", sum(o.calls for o in rest), sum(o.microseconds for o in rest)))
    lines = [f"{o.microseconds / total:6.1%} {o.microseconds / 1e3:10.1f} {o.calls:8d}  {o.name}" for o in shown]
    return [f" share {'ms':>10} {'calls':>8}  operation ({total / 1e3:.1f} ms in all)", *lines]
