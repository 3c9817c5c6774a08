"""Seconds and memory of attention alone as sequences grow: dense, window, strided and top-k, with either kernel.

Each row is measured in a process of its own, so that no earlier measurement leaves its memory to a later one.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.figures import exponent
from benchmarks.isolation import isolated
from benchmarks.memory import peak_bytes, restart_peak
from benchmarks.timing import timed
from translator.attention.kernels import Kernel, attend_explicit, attend_fused
from translator.attention.patterns import Pattern, choose_pattern
from translator.attention.rules import View
from translator.errors import one_of

KINDS = ("dense", "window", "strided", "topk")
PASSES = ("forward", "forward+backward")
_MEASURES = ("seconds", "peak_bytes")


def _explicit(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None, dropout_p: float) -> Tensor:
    return attend_explicit(q, k, v, visible, dropout_p)[0]


KERNELS: dict[str, Kernel] = {"fused": attend_fused, "explicit": _explicit}


@dataclass(frozen=True)
class AttentionJob:
    """One causal self-attention over one sequence of random numbers, projections left out."""

    rule: str = "dense"
    kernel: str = "fused"
    passes: str = "forward"
    length: int = 128
    window: int = 128
    stride: int = 64
    top_k: int = 32
    d_model: int = 256
    n_heads: int = 8
    rounds: int = 3
    threads: int = 1

    def pattern(self) -> Pattern:
        """What is measured."""
        own = {"window": ("window", self.window), "strided": ("stride", self.stride), "topk": ("top_k", self.top_k)}
        return choose_pattern(causal_only=True, **dict([own[self.rule]] if self.rule in own else []))


def attention_rows(
    base: AttentionJob, lengths: Sequence[int], kinds: Sequence[str], kernels: Sequence[str] = tuple(KERNELS)
) -> Iterator[dict[str, Any]]:
    """A row a length for each kind, kernel and pass, then a row with the fitted exponents of time and memory.

    ``seconds`` is the median of the rounds after one that does not count; ``peak_bytes`` is what the process held at
    its highest beyond what it held before the first round, inputs included in neither.

    Raises:
        UserError: an unknown kind or kernel, or a pattern's number that is not positive.
    """
    for what, given, known in (("kind", kinds, KINDS), ("kernel", kernels, tuple(KERNELS))):
        for name in given:
            one_of(f"attention benchmark: {what}", name, known)
    for kind, kernel, passes in product(kinds, kernels, PASSES):
        jobs = [replace(base, rule=kind, kernel=kernel, passes=passes, length=length) for length in lengths]
        for job in jobs:
            job.pattern()  # refuses bad numbers before anything is measured
        rows = []
        for job in jobs:
            rows.append(asdict(job) | isolated(measure, job))
            yield rows[-1]
        if len(rows) > 1:
            yield _fit(rows)


def measure(job: AttentionJob) -> dict[str, float]:
    """Run the job in this process -> its ``seconds`` and ``peak_bytes``."""
    torch.set_num_threads(job.threads)
    torch.manual_seed(1)
    run = _runner(job, job.length)
    _runner(job, min(job.length, 128))()  # code and thread pools are loaded before memory is looked at
    _return_freed_memory(True)
    restart_peak()
    before = peak_bytes()
    run()
    peak = peak_bytes() - before
    _return_freed_memory(False)
    run()
    return {"seconds": median(timed(run, job.rounds)[0]), "peak_bytes": peak}


def _fit(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The exponents over the longer lengths, four at least: over short ones, fixed costs outweigh what grows."""
    longer = rows[max(0, min(len(rows) // 2, len(rows) - 4)) :]
    lengths = [row["length"] for row in longer]
    fixed = {key: rows[0][key] for key in ("rule", "kernel", "passes")}
    found = {f"{name}_exponent": exponent(lengths, [row[name] for row in longer]) for name in _MEASURES}
    return {**fixed, "lengths": lengths, **found}


def _runner(job: AttentionJob, length: int) -> Callable[[], None]:
    backward = job.passes == "forward+backward"
    shape = (1, job.n_heads, length, job.d_model // job.n_heads)
    q, k, v = (torch.randn(shape, requires_grad=backward) for _ in range(3))
    pattern, kernel, view = job.pattern(), KERNELS[job.kernel], View()

    def run() -> None:
        with torch.set_grad_enabled(backward):
            out = pattern.attend(q, k, v, view, 0.0, kernel)
            if backward:
                torch.autograd.grad(out.sum(), (q, k, v))

    return run


def _return_freed_memory(now: bool) -> None:
    """Whether freed tensors go back to the system at once: the GNU allocator would keep some, by their sizes.

    While they do, memory is that of the tensors that live; while they do not, time is that of everyday use.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        threshold = -3  # M_MMAP_THRESHOLD: blocks from this size on have pages of their own
        library.mallopt(threshold, 2**16 if now else 2**25)
        library.malloc_trim(0)
