"""Sentences to try a model on: those that it was validated on, where they can be reached, else made-up ids."""

from dataclasses import dataclass
from pathlib import Path

import torch

from translator.bundle import Bundle
from translator.data.corpus import load_split
from translator.data.dataset import ParallelDataset
from translator.errors import UserError
from translator.inspection.own_data import own_data
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
    try:
        data = own_data(bundle.config, "the bundle")
        kind, root, path = (data.get(key) for key in ("kind", "root", "path"))
        if (kind == "multi30k" and not root) or (kind == "hub" and not Path(str(path)).exists()):
            raise UserError("its data is not on this machine")  # reading it would take a network
        text = load_split(data, "valid")
        longest = _longest(bundle.model.config)
        dataset = ParallelDataset(text.sources, text.targets, bundle.tokenizer, max_length=longest)
        if not len(dataset):
            raise UserError("the validation set has no pair that is short enough")
    except UserError as error:
        return made_up(bundle.model.config, count, f"made-up pieces ({error})")
    by_length = sorted(range(len(dataset)), key=lambda i: (dataset.source_lengths[i], i))
    count = min(count, len(by_length))
    chosen = sorted({by_length[i * (len(by_length) - 1) // max(count - 1, 1)] for i in range(count)})
    sources, targets = zip(*map(dataset.pair, chosen), strict=True)
    return Probes([*map(list, sources)], [*map(list, targets)], "the validation set")


def made_up(config: ModelConfig, count: int, origin: str) -> Probes:
    """Random ids, none of them special; lengths from 1 to 15 on both sides, the same in every run."""
    special = {config.pad_id, config.unk_id, config.bos_id, config.eos_id}
    usable = torch.tensor([i for i in range(config.vocab_size) if i not in special])
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, min(15, _longest(config)) + 1, (2, count), generator=generator).tolist()
    sources, targets = (
        [usable[torch.randint(len(usable), (length,), generator=generator)].tolist() for length in side]
        for side in lengths
    )
    return Probes(sources, targets, origin)


def _longest(config: ModelConfig) -> int:
    return max(1, min(LONGEST, config.max_positions - SPARE)) if config.positions == "learned" else LONGEST
