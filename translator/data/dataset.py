"""Pairs of piece ids in memory."""

import random
from array import array
from collections.abc import Sequence
from typing import Protocol

from translator.data.batching import Pair


class Encoder(Protocol):
    """What batching needs of a tokenizer."""

    pad_id: int
    bos_id: int
    eos_id: int

    def encode(self, text: str) -> list[int]:
        """Piece ids, always the same for a text."""

    def encode_sampled(self, text: str, rng: random.Random, strength: float) -> list[int]:
        """Piece ids of one segmentation drawn at random."""


class _FlatIds:
    """Many id lists in one array of 4 bytes an id; a list of lists takes ten times as much."""

    def __init__(self) -> None:
        self._ids = array("i")
        self._ends = array("q", [0])

    def append(self, ids: Sequence[int]) -> None:
        self._ids.extend(ids)
        self._ends.append(len(self._ids))

    def __getitem__(self, index: int) -> list[int]:
        return self._ids[self._ends[index] : self._ends[index + 1]].tolist()


class ParallelDataset:
    """Pairs of piece ids, tokenised once; with `sampling`, segmented anew for every epoch.

    Pairs with a side without pieces or, where `max_length` is set, with more than `max_length` are left out; `blank`
    and `too_long` count them. Sampled segmentations depend on (seed, epoch, pair) alone, so neither the order of
    batches nor a resume changes them. Lengths are those of the deterministic pieces, plus one for eos: a sampled
    pair may come out longer, cut to `max_length`.
    """

    def __init__(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        tokenizer: Encoder,
        *,
        max_length: int | None = None,
        sampling: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._texts, self._tokenizer = (sources, targets), tokenizer
        self._max_length, self._sampling, self._seed = max_length, sampling, seed
        self._sources, self._targets = _FlatIds(), _FlatIds()
        self._kept = array("q")  # index of a pair -> index of its texts
        self.source_lengths, self.target_lengths = array("i"), array("i")
        self.blank = self.too_long = 0
        for index, (source, target) in enumerate(zip(sources, targets, strict=True)):
            self._add(index, tokenizer.encode(source), tokenizer.encode(target))

    def _add(self, index: int, source: list[int], target: list[int]) -> None:
        if not source or not target:
            self.blank += 1
            return
        if self._max_length is not None and max(len(source), len(target)) > self._max_length:
            self.too_long += 1
            return
        self._kept.append(index)
        self._sources.append(source)
        self._targets.append(target)
        self.source_lengths.append(len(source) + 1)
        self.target_lengths.append(len(target) + 1)

    def __len__(self) -> int:
        return len(self._kept)

    def pair(self, index: int, epoch: int = 0) -> Pair:
        """Source and target piece ids of a pair as they are in this epoch."""
        if not self._sampling:
            return self._sources[index], self._targets[index]
        rng = random.Random(f"{self._seed}/{epoch}/{index}")
        texts = (side[self._kept[index]] for side in self._texts)
        source, target = (self._tokenizer.encode_sampled(text, rng, self._sampling) for text in texts)
        return source[: self._max_length], target[: self._max_length]
