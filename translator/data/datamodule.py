"""The loaders that hand batches to the trainer, and go on exactly where a checkpoint was made."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from lightning.pytorch import LightningDataModule
from torch.utils.data import DataLoader

from translator.data.batching import Batch, Pair, TokenBudgetSampler, collate, world
from translator.data.corpus import Corpus
from translator.data.dataset import ParallelDataset
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError

logger = logging.getLogger("translator")


@dataclass(frozen=True, eq=False)
class TrainLoader:
    """One epoch of batches after another; goes on from the batch where the trainer stands.

    The position is the trainer's own count of the batches trained on since the run began, which is right wherever a
    checkpoint is made: after an update, at the end of an epoch, or after a batch broke off. A count kept here would
    also see batches that were fetched and not trained on. It is read when the first batch is asked for, since the
    trainer makes the iterator while it still restores itself. As all epochs have the same number of batches, the epoch
    and the place in it follow by division. The trainer's count of epochs is not used: a resume from a checkpoint made
    at the end of an epoch skips a number where `max_steps` ends training (seen in Lightning 2.6).

    The saved state serves a check only: a position means the same pairs only if batches are formed the same way.
    """

    dataset: ParallelDataset
    batching: TokenBudgetSampler
    collate: Callable[[list[Pair]], Batch]
    position: Callable[[], int]

    def __len__(self) -> int:
        return len(self.batching)

    def __iter__(self) -> Iterator[Batch]:
        """As many batches as an epoch has, running on into the next epoch if we begin within one."""
        epoch, begin = divmod(self.position(), len(self))
        yield from self._batches(epoch, begin, len(self))
        yield from self._batches(epoch + 1, 0, begin)

    def _batches(self, epoch: int, begin: int, end: int) -> Iterator[Batch]:
        self.batching.epoch = epoch
        for indices in list(self.batching)[begin:end]:
            yield self.collate([self.dataset.pair(index, epoch) for index in indices])

    def state_dict(self) -> dict[str, int]:
        """What decides which pairs are in which batch, in plain numbers."""
        return {
            "pairs": len(self.dataset),
            "batches": len(self),
            "max_tokens": self.batching.max_tokens,
            "max_sentences": self.batching.max_sentences or 0,
            "seed": self.batching.seed,
        }

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Raise UserError unless a checkpoint's batches are formed as ours are."""
        ours = self.state_dict().items()
        changed = [f"{name} was {state.get(name)}, is {value}" for name, value in ours if value != state.get(name)]
        if changed:
            raise UserError(
                f"cannot resume exactly, as batches differ: {'; '.join(changed)};"
                " use the same data, batch settings and number of processes"
            )


class TranslationDataModule(LightningDataModule):
    """Token-budget batches of a corpus for training, and for the loss on its validation part.

    `max_tokens` and `max_sentences` bound a batch (see TokenBudgetSampler); pairs of more than `max_length` pieces
    on a side are left out of training, with a count, and none out of validation. `sampling` is the strength
    of subword sampling in training, 0 for none.

    Raises:
        UserError: no pair is left to train on or to validate with, or fewer training pairs than processes.
    """

    def __init__(
        self,
        corpus: Corpus,
        tokenizer: Tokenizer,
        *,
        max_tokens: int,
        max_sentences: int | None = None,
        max_length: int | None = None,
        sampling: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.allow_zero_length_dataloader_with_multiple_devices = True  # fewer validation pairs than processes
        self._collate = partial(collate, pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id, eos_id=tokenizer.eos_id)
        self.train_pairs = ParallelDataset(
            corpus.train.sources, corpus.train.targets, tokenizer, max_length=max_length, sampling=sampling, seed=seed
        )
        blank, too_long = self.train_pairs.blank, self.train_pairs.too_long
        if blank or too_long:
            message = "left out %d training pairs: %d with a blank side, %d with more than %s pieces on a side"
            logger.warning(message, blank + too_long, blank, too_long, max_length)
        self.valid_pairs = ParallelDataset(corpus.valid.sources, corpus.valid.targets, tokenizer)
        self.sampler, self._valid_sampler = (
            TokenBudgetSampler(pairs.source_lengths, pairs.target_lengths, max_tokens, max_sentences, seed)
            for pairs in (self.train_pairs, self.valid_pairs)
        )

    def setup(self, stage: str) -> None:
        """Report on the batches, once the number of processes is known."""
        if stage == "fit":
            message = "%d training pairs in %d batches a process and epoch, %.1f %% padding"
            logger.info(message, len(self.train_pairs), len(self.sampler), 100 * self.sampler.padding_share())

    def train_dataloader(self) -> TrainLoader:
        """Batches that go on exactly where a checkpoint was made."""
        return TrainLoader(self.train_pairs, self.sampler, self._collate, self._position)

    def val_dataloader(self) -> DataLoader[Pair]:
        """All validation pairs, sorted by length, in the same batches each time; a process takes every n-th one."""
        rank, world_size = world()
        own = self._valid_sampler.sorted_batches()[rank::world_size]
        return DataLoader(self.valid_pairs, batch_sampler=own, collate_fn=self._collate)

    def state_dict(self) -> dict[str, int]:
        """What the loader saves: the trainer restores loaders only where it has not asked for their length before."""
        return self.train_dataloader().state_dict()

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        """Raise UserError unless a checkpoint's batches are formed as ours are."""
        self.train_dataloader().load_state_dict(state_dict)

    def _position(self) -> int:
        """Batches that the trainer has trained on since the run began; 0 outside of a fit.

        Also mends a count, as an epoch begins: after a resume from the very last batch of an epoch the trainer (seen in
        Lightning 2.6) forgets to count the next one as begun. Checkpoints made in that epoch would then pass for
        complete ones, and on a second resume epochs would end, validate and step at other batches than without it.
        Where the counts are right this changes nothing.
        """
        if self.trainer is None or not self.trainer.training:
            return 0
        loop: Any = self.trainer.fit_loop
        for count in (loop.epoch_progress.total, loop.epoch_progress.current):
            count.ready = count.started = count.processed + 1
        return int(loop.epoch_loop.batch_progress.total.processed)
