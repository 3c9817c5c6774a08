"""Training batches in a file, so that several programs can be timed on the very same ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from translator.data.batching import Batch

#: What of a vocabulary a model has to know.
IDS = ("vocab_size", "pad_id", "unk_id", "bos_id", "eos_id")


def write_batches(path: str | Path, batches: Sequence[Batch], ids: dict[str, int]) -> None:
    """Write batches and the `IDS` of their vocabulary, as plain tensors and numbers."""
    torch.save({"ids": ids, "batches": [batch._asdict() for batch in batches]}, path)


def read_batches(path: str | Path) -> tuple[list[Batch], dict[str, int]]:
    """What `write_batches` has written."""
    found: dict[str, Any] = torch.load(path, weights_only=True)
    return [Batch(**fields) for fields in found["batches"]], found["ids"]


def workload(batches: Sequence[Batch]) -> dict[str, Any]:
    """What one pass over the batches works through: real positions (the end of sentence counted) and padding.

    ``padding`` is the share of padded among all positions of both sides, 0 to 1.
    """
    source, target = sum(b.n_source_tokens for b in batches), sum(b.n_tokens for b in batches)
    positions = sum(b.src_ids.numel() + b.tgt_in.numel() for b in batches)
    return {
        "steps": len(batches),
        "sentences": sum(len(b.src_ids) for b in batches),
        "source_tokens": source,
        "target_tokens": target,
        "padding": 1 - (source + target) / positions,
    }
