"""Tokenised pairs in memory, and the loaders that hand them to the trainer in batches."""

from __future__ import annotations

import logging
import random
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch
from lightning.pytorch import LightningDataModule

from translator.data.batching import Batch, Pair, TokenBudgetSampler, collate, padding_share, sorted_batches
from translator.errors import UserError

if TYPE_CHECKING:
    from translator.data.corpus import Corpus, ParallelText

logger = logging.getLogger("translator")


class Encoder(Protocol):
    """What batching needs of a tokenizer."""

    pad_id: int
    bos_id: int
    eos_id: int

    def encode(self, text: str) -> list[int]:
        """Piece ids, always the same for a text."""

    def encode_sampled(self, text: str, rng: random.Random) -> list[int]:
        """Piece ids of one segmentation drawn at random."""


class _FlatIds:
    """Many id lists in one array of 4 bytes an id; a list of lists takes ten times as much."""

    def __init__(self) -> None:
        self._ids = array("i")
        self._ends = array("q", [0])

    def append(self, ids: Sequence[int]) -> None:
        self._ids.extend(ids)
        self._ends.append(len(self._ids))

    def __len__(self) -> int:
        return len(self._ends) - 1

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
        text: ParallelText,
        tokenizer: Encoder,
        *,
        max_length: int | None = None,
        sampling: bool = False,
        seed: int = 0,
    ) -> None:
        self._text, self._tokenizer = text, tokenizer
        self._max_length, self._sampling, self._seed = max_length, sampling, seed
        self._sources, self._targets = _FlatIds(), _FlatIds()
        self._kept = array("q")  # dataset index -> index in the text
        self.source_lengths, self.target_lengths = array("i"), array("i")
        self.blank = self.too_long = 0
        for index, (source, target) in enumerate(zip(text.sources, text.targets, strict=True)):
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
        sides = (self._text.sources, self._text.targets)
        source, target = (self._tokenizer.encode_sampled(side[self._kept[index]], rng) for side in sides)
        return source[: self._max_length], target[: self._max_length]


class TrainLoader:
    """The batches of an epoch from where the trainer stands in it.

    Why the position is the trainer's own count and not one kept and saved here: a checkpoint already holds how many
    batches of the epoch were trained on, and the trainer corrects that count on a resume (for a batch that was
    handed out but broke off, and for an epoch that was already complete). A second count would also see batches that
    were fetched ahead, and could disagree. The count is read when the first batch is asked for, because the trainer
    makes the iterator before those corrections. Since the length is known, the trainer skips nothing by itself.

    The saved state serves a check only: position k means the same pairs only if batches are formed the same way.
    """

    def __init__(
        self,
        dataset: ParallelDataset,
        sampler: TokenBudgetSampler,
        collate: Callable[[list[Pair]], Batch],
        begin_epoch: Callable[[], int],
    ) -> None:
        self.dataset_size = len(dataset)
        self.sampler = sampler  # under this name the trainer finds it and calls set_epoch
        self._dataset, self._collate, self._begin_epoch = dataset, collate, begin_epoch

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[Batch]:
        done = self._begin_epoch()
        epoch = self.sampler.epoch
        for indices in list(self.sampler)[done:]:
            yield self._collate([self._dataset.pair(index, epoch) for index in indices])

    def state_dict(self) -> dict[str, int]:
        """What decides which pairs are in which batch, in plain numbers."""
        return {
            "pairs": self.dataset_size,
            "batches": len(self),
            "max_tokens": self.sampler.max_tokens,
            "max_sentences": self.sampler.max_sentences or 0,
            "seed": self.sampler.seed,
        }

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Raise UserError unless a checkpoint's batches are formed as ours are."""
        ours = self.state_dict()
        changed = [
            f"{name} was {state.get(name)}, is {value}" for name, value in ours.items() if value != state.get(name)
        ]
        if changed:
            raise UserError(
                f"cannot resume exactly, as batches differ: {'; '.join(changed)};"
                " use the same data, batch settings and number of processes"
            )


class EvalLoader:
    """Batches of validation pairs, sorted by length, the same each time; each process takes every n-th one."""

    def __init__(
        self, dataset: ParallelDataset, sampler: TokenBudgetSampler, collate: Callable[[list[Pair]], Batch]
    ) -> None:
        self._dataset, self._sampler, self._collate = dataset, sampler, collate
        self._batches = sorted_batches(sampler)

    def _own(self) -> list[list[int]]:
        rank, world_size = self._sampler.world()
        return self._batches[rank::world_size]

    def __len__(self) -> int:
        return len(self._own())

    def __iter__(self) -> Iterator[Batch]:
        for indices in self._own():
            yield self._collate([self._dataset.pair(index) for index in indices])


class TranslationDataModule(LightningDataModule):
    """Token-budget batches of a corpus for training, and for the loss on its validation part.

    `max_tokens` and `max_sentences` bound a batch (see TokenBudgetSampler); pairs of more than `max_length` pieces
    on a side are left out of training, with a count, and none out of validation. `sampling` turns subword sampling
    on for training.

    Raises:
        UserError: no pair is left to train on or to validate with, or fewer than processes.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokenizer: Encoder,
        *,
        max_tokens: int,
        max_sentences: int | None = None,
        max_length: int | None = None,
        sampling: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self.train_pairs = ParallelDataset(corpus.train, tokenizer, max_length=max_length, sampling=sampling, seed=seed)
        if left_out := self.train_pairs.blank + self.train_pairs.too_long:
            logger.warning(
                "left out %d training pairs: %d with a blank side, %d with more than %s pieces on a side",
                left_out, self.train_pairs.blank, self.train_pairs.too_long, max_length,
            )  # fmt: skip
        self.valid_pairs = ParallelDataset(corpus.valid, tokenizer)
        self.sampler = self._sampler(self.train_pairs, max_tokens, max_sentences, seed)
        self._valid_sampler = self._sampler(self.valid_pairs, max_tokens, max_sentences, seed)
        logger.info(
            "%d training pairs in %d batches, %.1f %% padding",
            len(self.train_pairs), len(self.sampler), 100 * padding_share(self.sampler),
        )  # fmt: skip

    @staticmethod
    def _sampler(pairs: ParallelDataset, max_tokens: int, max_sentences: int | None, seed: int) -> TokenBudgetSampler:
        return TokenBudgetSampler(
            pairs.source_lengths, pairs.target_lengths, max_tokens, max_sentences=max_sentences, seed=seed
        )

    def train_dataloader(self) -> TrainLoader:
        """Batches that go on exactly where a checkpoint was made."""
        return TrainLoader(self.train_pairs, self.sampler, self._collate, self._begin_epoch)

    def val_dataloader(self) -> EvalLoader:
        """All validation pairs, in the same batches each time."""
        return EvalLoader(self.valid_pairs, self._valid_sampler, self._collate)

    def _collate(self, pairs: list[Pair]) -> Batch:
        return collate(pairs, self._tokenizer.pad_id, self._tokenizer.bos_id, self._tokenizer.eos_id)

    def _begin_epoch(self) -> int:
        """Batches of this epoch that the trainer has trained on already; 0 outside of a fit.

        Also mends a count: after a resume from the very last batch of an epoch the trainer (seen in Lightning 2.6)
        forgets to count the next epoch as begun. Checkpoints made in that epoch would then pass for complete ones,
        and a second resume would start an epoch anew in its middle. In any other case this changes nothing.
        """
        if self.trainer is None or not self.trainer.training:
            return 0
        loop = self.trainer.fit_loop
        counts: tuple[Any, ...] = (loop.epoch_progress.total, loop.epoch_progress.current)
        for count in counts:
            count.ready = count.started = count.processed + 1
        return loop.epoch_loop.batch_progress.current.ready

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Copy without waiting for the GPU's work."""
        if device.type == "cuda":
            return batch.pin_memory().to(device, non_blocking=True)
        return batch.to(device)
