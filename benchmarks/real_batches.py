"""Batches of a corpus exactly as training would be dealt them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.batch_file import IDS, write_batches
from translator.bundle import TOKENIZER, read_config
from translator.data.batching import TokenBudgetSampler, collate
from translator.data.corpus import load_split
from translator.data.dataset import ParallelDataset
from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.errors import UserError


@dataclass(frozen=True)
class BatchJob:
    """Which batches to write, and where.

    ``data`` as in conf/data; pieces are those of the bundle ``checkpoint``, or else of a vocabulary of
    ``vocab_size`` learned from the same text; ``max_tokens`` as in training; the first ``count`` of an epoch.
    """

    path: str
    data: Mapping[str, Any]
    checkpoint: str | None
    vocab_size: int
    max_tokens: int
    count: int
    max_length: int | None = None
    seed: int = 1


def prepare_batches(job: BatchJob) -> dict[str, int]:
    """Write the batches -> the `IDS` of their vocabulary.

    Raises:
        UserError: the corpus cannot be read, or has fewer batches than were asked for.
    """
    text = load_split(job.data, "train").without_blank_sides()
    if not len(text):
        raise UserError("the training part of the data has no pair with text on both sides")
    tokenizer = _tokenizer(job, [*text.sources, *text.targets])
    pairs = ParallelDataset(text.sources, text.targets, tokenizer, max_length=job.max_length)
    sampler = TokenBudgetSampler(pairs.source_lengths, pairs.target_lengths, job.max_tokens, seed=job.seed)
    dealt = sampler.epoch_batches()[: job.count]
    if len(dealt) < job.count:
        raise UserError(
            f"an epoch has only {len(dealt)} batches of {job.max_tokens} tokens: take --steps {len(dealt)} or fewer, "
            "or smaller --batch-tokens"
        )
    ids = {name: int(getattr(tokenizer, name)) for name in IDS}
    special = ids["pad_id"], ids["bos_id"], ids["eos_id"]
    batches = [collate([pairs.pair(index) for index in indices], *special) for indices in dealt]
    write_batches(job.path, batches, ids)
    return ids


def _tokenizer(job: BatchJob, lines: list[str]) -> Tokenizer:
    if job.checkpoint is not None:
        directory = Path(job.checkpoint)
        return Tokenizer.load(directory / TOKENIZER, **read_config(directory)["tokenizer"])
    with TemporaryDirectory() as scratch:
        return train_tokenizer(lines, Path(scratch, TOKENIZER), vocab_size=job.vocab_size)
