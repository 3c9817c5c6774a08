"""What all programs share: the job they are given, the clock, and the one JSON line that they answer with.

A job is a JSON file, named by the only argument. Runs in every environment: imports nothing but the standard library,
torch where training needs it, and the small files of this project that need no more.
"""

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.memory import PeakMemory
from benchmarks.timing import timed

#: The exit status that says: this machine cannot do that, leave it out.
NOT_HERE = 77

Job = dict[str, Any]
Ids = list[int]


def time_training(build: Callable[[Job, dict[str, int]], Callable[[Any], float]], packages: Sequence[str]) -> None:
    """Time updates on the job's batches: ``build`` makes, of the job and the ids, a function that does one update.

    It returns the loss a token.
    """
    import torch

    from benchmarks.batch_file import read_batches

    job = read_job()
    torch.set_num_threads(job["threads"])
    batches, ids = read_batches(job["batches"])
    torch.manual_seed(1)
    update = build(job, ids)
    memory = PeakMemory()
    for batch in batches[: job["warmup"]]:
        update(batch)
    seconds, losses = timed(lambda: [update(batch) for batch in batches], job["rounds"])
    answer(seconds, memory, packages, loss=losses[-1], ran_as=job.get("ran_as", job["precision"]))


def time_decoding(load: Callable[[Job], Callable[[list[Ids], list[int]], list[Ids]]], packages: Sequence[str]) -> None:
    """Time translations of the job's groups: ``load`` makes a function of sources and length limits.

    Sources are piece ids without the end of sentence; a limit counts produced pieces and the end of sentence. The
    function returns piece ids without special ones.
    """
    job = read_job()
    translate = load(job)
    groups = list(zip(job["groups"], job["limits"], strict=True))
    memory = PeakMemory()
    translate(*groups[-1])  # the shortest, to warm up
    seconds, found = timed(lambda: [translate(*group) for group in groups], job["rounds"])
    outputs = [ids for of_group in found for ids in of_group]
    answer(seconds, memory, packages, outputs=outputs, ran_as=job.get("ran_as"))


def read_job() -> Job:
    """The job that the command line names."""
    job: Job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return job


def answer(seconds: list[float], memory: PeakMemory, packages: Sequence[str], **more: Any) -> None:
    """Print the figures of a measurement and the versions behind it."""
    versions = {name: metadata.version(name) for name in packages} | {"python": platform.python_version()}
    figures = {"seconds": seconds, **memory.row(), "versions": versions, "cpus": os.cpu_count(), **more}
    print(json.dumps(figures), flush=True)


def plain_update(model: Any, logits_of: Callable[[Any], Any], precision: str) -> Callable[[Any], float]:
    """The usual loop body: loss over the matrix of logits, backward, clip, step; bf16-mixed is torch's autocast.

    AdamW is set as in our training.
    """
    import torch
    import torch.nn.functional as F
    from torch.optim import AdamW

    optimizer = AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01, fused=True)

    def update(batch: Any) -> float:
        targets = batch.tgt_out.masked_fill(~batch.tgt_valid, -100)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16-mixed"):
            logits = logits_of(batch)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), label_smoothing=0.1, ignore_index=-100)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.detach())

    return update
