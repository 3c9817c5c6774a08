"""Sentences to try a model on: those that it was validated on, where they can be reached, else made-up ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from translator.bundle import Bundle
from translator.data.corpus import load_split
from translator.data.dataset import ParallelDataset
from translator.errors import UserError
from translator.model.config import ModelConfig

#: The longest probe in pieces: whatever fails with longer ones fails with these, and they take less time.
LONGEST = 60
#: Positions kept free of probes, for padding and special pieces.
SPARE = 8


@dataclass(frozen=True)
class Probes:
    """Piece ids of pairs, without special pieces, and where they come from."""

    sources: list[list[int]]
    targets: list[list[int]]
    origin: str


def find_probes(bundle: Bundle, count: int) -> Probes:
    """So many pairs, spread over the validation set by length; made-up ones where that is not to be had here."""
    limit = _longest(bundle.model.config)
    try:
        text = load_split(_local(bundle.config), "valid")
        dataset = ParallelDataset(text.sources, text.targets, bundle.tokenizer, max_length=limit)
        if not len(dataset):
            raise UserError("the validation set has no pair that is short enough")
    except UserError as error:
        return made_up(bundle.model.config, count, f"made-up pieces ({error})")
    by_length = sorted(range(len(dataset)), key=lambda i: (dataset.source_lengths[i], i))
    steps = max(min(count, len(by_length)) - 1, 1)
    chosen = sorted({by_length[i * (len(by_length) - 1) // steps] for i in range(min(count, len(by_length)))})
    pairs = [dataset.pair(i) for i in chosen]
    return Probes([list(s) for s, _ in pairs], [list(t) for _, t in pairs], "the validation set")


def made_up(config: ModelConfig, count: int, origin: str) -> Probes:
    """Random ids, none of them special; lengths from 1 to 15 on both sides, the same in every run."""
    special = {config.pad_id, config.unk_id, config.bos_id, config.eos_id}
    usable = torch.tensor([i for i in range(config.vocab_size) if i not in special])
    generator = torch.Generator().manual_seed(3)
    longest = min(15, _longest(config))

    def sentence(length: int) -> list[int]:
        found: list[int] = usable[torch.randint(len(usable), (length,), generator=generator)].tolist()
        return found

    lengths = (torch.randint(1, longest + 1, (2, count), generator=generator)).tolist()
    return Probes([sentence(n) for n in lengths[0]], [sentence(n) for n in lengths[1]], origin)


def _local(config: Mapping[str, Any]) -> dict[str, Any]:
    """The bundle's data settings, unless reading them would take a network."""
    data = config.get("data")
    if not isinstance(data, Mapping):
        raise UserError("the bundle does not say what it was trained on")
    remote = (data.get("kind") == "multi30k" and not data.get("root")) or (
        data.get("kind") == "hub" and not Path(str(data.get("path"))).exists()
    )
    if remote:
        raise UserError("its data is not on this machine")
    return {**data, "source": config["source"], "target": config["target"]}


def _longest(config: ModelConfig) -> int:
    return max(1, min(LONGEST, config.max_positions - SPARE)) if config.positions == "learned" else LONGEST
