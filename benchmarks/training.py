"""How fast a model learns: whole updates on real batches, through the functions that training runs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from benchmarks.batch_file import read_batches, workload
from benchmarks.figures import parameters, rate, spread
from benchmarks.memory import PeakMemory
from benchmarks.profiling import show_profile
from benchmarks.timing import Job, timed
from translator.data.batching import Batch
from translator.device import (
    choose_device,
    choose_training_precision,
    keep_compiled_products,
    keep_freed_memory,
    surroundings,
)
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer
from translator.training.config import OptimizerConfig
from translator.training.step import average_and_clip, build_optimizer, losses

LABEL_SMOOTHING = 0.1
#: How far an update goes has no part in how long it takes; a small rate keeps numbers finite without a warm-up.
LEARNING_RATE = 1e-4


@dataclass(frozen=True)
class TrainJob(Job):
    """What to time: ``rounds`` passes over the batches in a file, after ``warmup`` updates that do not count.

    ``model`` holds the sizes as in conf/model; ids and the size of the vocabulary come with the batches; ``precision``
    is as in training: auto, 32-true, bf16-mixed.
    """

    batches: str
    name: str
    model: Mapping[str, Any]
    warmup: int = 2
    precision: str = field(default="auto", kw_only=True)


class Updates:
    """A model and its optimizer, one update at a time: forward, backward, clipping, AdamW. No averaged weights."""

    def __init__(self, model: Transformer, precision: str) -> None:
        keep_compiled_products()
        keep_freed_memory()
        self.model = model.train()
        self.device = next(model.parameters()).device
        self._mixed = precision == "bf16-mixed"
        self._optimizer = build_optimizer(
            model, OptimizerConfig(LEARNING_RATE, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01)
        )
        self._clip = 1.0

    def update(self, batch: Batch) -> float:
        """One update -> the label-smoothed loss a token before it, in nats."""
        with self._autocast():
            loss, _ = losses(self.model, batch, LABEL_SMOOTHING)
        loss.backward()
        share = torch.tensor(1.0 / batch.n_tokens, device=self.device)
        average_and_clip(self.model.parameters(), share, self._clip)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return float(loss.detach()) / batch.n_tokens

    def run(self, batches: Sequence[Batch]) -> float:
        """An update a batch -> the loss before the last one."""
        found = 0.0
        for batch in batches:
            found = self.update(batch)
        return found

    def _autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type, torch.bfloat16) if self._mixed else nullcontext()


def train_row(job: TrainJob) -> dict[str, Any]:
    """Time a training -> a row of figures; rates count real tokens, padding is time lost."""
    device, _ = choose_device(job.device, "float32", job.threads)
    batches, ids = read_batches(job.batches)
    batches = [batch.to(device) for batch in batches]
    precision = choose_training_precision(job.precision, "gpu" if device.type == "cuda" else "cpu")
    torch.manual_seed(1)
    model = Transformer(ModelConfig.from_dict({**job.model, **ids})).to(device)
    updates = Updates(model, precision)
    memory = PeakMemory()
    updates.run(batches[: job.warmup])
    seconds, loss = timed(lambda: updates.run(batches), job.rounds, device)
    if job.profile:
        show_profile(lambda: updates.run(batches[: job.warmup]), device)
    work = workload(batches)
    return {
        "kind": "train",
        "model": job.name,
        "parameters": parameters(model),
        "vocab_size": model.config.vocab_size,
        "precision": precision,
        **work,
        "rounds": job.rounds,
        **spread("seconds", seconds),
        **rate("tokens_per_second", work["source_tokens"] + work["target_tokens"], seconds),
        **rate("target_tokens_per_second", work["target_tokens"], seconds),
        **rate("sentences_per_second", work["sentences"], seconds),
        "loss": loss,
        **memory.row(device),
        **surroundings(device),
    }
