"""Kinds of attention side by side: how fast each decodes, as a ratio to plain multi-head attention.

The models take turns within each round, so that a busy moment of the machine meets all of them; weights are random and
outputs forced to their length, as in `growth`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.figures import parameters, rate, spread
from benchmarks.growth import GrowthJob, build, decode
from translator.device import choose_device, surroundings


def kinds(base: GrowthJob, kv_heads: Sequence[int], windows: Sequence[int]) -> Iterator[GrowthJob]:
    """The base, which is the measure of all, then with fewer key/value heads or a window."""
    yield base
    yield from (replace(base, kv_heads=heads) for heads in kv_heads)
    yield from (replace(base, window=window) for window in windows)


def kinds_rows(jobs: Sequence[GrowthJob]) -> list[dict[str, Any]]:
    """A row a job: output tokens a second from the first step to the last, and the ratio of that to the first job's.

    A ratio is of two decodings of the same round. All jobs share place, batch, beam, rounds and their one length.
    """
    first, (length,) = jobs[0], jobs[0].lengths
    device, dtype = choose_device(first.device, first.precision, first.threads)
    models = [build(job).to(device=device, dtype=dtype) for job in jobs]
    for model, job in zip(models, jobs, strict=True):
        decode(model, job, device, longest=4)
    rounds = [
        [decode(model, job, device, longest=length) for model, job in zip(models, jobs, strict=True)]
        for _ in range(first.rounds)
    ]
    seconds = [[watch.calls[length] - watch.calls[0] for watch in one] for one in zip(*rounds, strict=True)]
    rows = []
    for job, model, taken, watch in zip(jobs, models, seconds, rounds[0], strict=True):
        grown, constant = watch.held[length]
        rows.append({
            "kind": "kinds",
            "model": job.name,
            "attention": _name(job),
            "parameters": parameters(model),
            **job.told("batch", "beam", "precision", "source_length", "rounds"),
            "length": length,
            **rate("tokens_per_second", job.batch * length, taken),
            **spread("ratio", [base / own for base, own in zip(seconds[0], taken, strict=True)]),
            "state_bytes": grown,
            "source_bytes": constant,
            **surroundings(device),
        })  # fmt: skip
    return rows


def _name(job: GrowthJob) -> str:
    """As ``attention`` is called in conf/, with its number."""
    if job.window is not None:
        return f"window {job.window}"
    heads = job.kv_heads or job.model["n_heads"]
    return "mqa" if heads == 1 else "mha" if heads == job.model["n_heads"] else f"gqa {heads}"
