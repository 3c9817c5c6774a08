"""The loaders that hand batches to the trainer, and go on exactly where a checkpoint was made."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch
from lightning.pytorch import LightningDataModule

from translator.data.batching import Batch, Pair, TokenBudgetSampler, collate, padding_share, sorted_batches
from translator.data.corpus import Corpus
from translator.data.dataset import Encoder, ParallelDataset
from translator.errors import UserError

logger = logging.getLogger("translator")


class TrainLoader:
    """One epoch of batches after another; goes on from the batch where the trainer stands.

    Why the position is the trainer's own count and not one kept and saved here: a checkpoint holds how many batches
    were trained on since the beginning of the run, and that count is right wherever a checkpoint is made: after an
    update, at the end of an epoch, or after a batch broke off. A second count would also see batches that were
    fetched and not trained on, and could disagree. It is read when the first batch is asked for, since the trainer
    makes the iterator while it still restores itself. As all epochs have the same number of batches, the epoch and the
    place in it follow by division. The trainer's count of epochs is not used: a resume from a checkpoint made at the
    end of an epoch skips a number where `max_steps` ends training (seen in Lightning 2.6).

    The saved state serves a check only: a position means the same pairs only if batches are formed the same way.
    """

    def __init__(
        self,
        dataset: ParallelDataset,
        sampler: TokenBudgetSampler,
        collate: Callable[[list[Pair]], Batch],
        position: Callable[[], int],
    ) -> None:
        self._dataset, self._sampler, self._collate, self._position = dataset, sampler, collate, position

    def __len__(self) -> int:
        return len(self._sampler)

    def __iter__(self) -> Iterator[Batch]:
        """As many batches as an epoch has, running on into the next epoch if we begin within one."""
        epoch, begin = divmod(self._position(), len(self))
        yield from self._batches(epoch, begin, len(self))
        yield from self._batches(epoch + 1, 0, begin)

    def _batches(self, epoch: int, begin: int, end: int) -> Iterator[Batch]:
        self._sampler.set_epoch(epoch)
        for indices in list(self._sampler)[begin:end]:
            yield self._collate([self._dataset.pair(index, epoch) for index in indices])

    def state_dict(self) -> dict[str, int]:
        """What decides which pairs are in which batch, in plain numbers."""
        return {
            "pairs": len(self._dataset),
            "batches": len(self),
            "max_tokens": self._sampler.max_tokens,
            "max_sentences": self._sampler.max_sentences or 0,
            "seed": self._sampler.seed,
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

    def _own(self) -> list[list[int]]:
        rank, world_size = self._sampler.world()
        return sorted_batches(self._sampler)[rank::world_size]

    def __len__(self) -> int:
        return len(self._own())

    def __iter__(self) -> Iterator[Batch]:
        for indices in self._own():
            yield self._collate([self._dataset.pair(index) for index in indices])


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
        tokenizer: Encoder,
        *,
        max_tokens: int,
        max_sentences: int | None = None,
        max_length: int | None = None,
        sampling: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.allow_zero_length_dataloader_with_multiple_devices = True  # fewer validation pairs than processes
        self._tokenizer = tokenizer
        self.train_pairs = ParallelDataset(
            corpus.train.sources, corpus.train.targets, tokenizer, max_length=max_length, sampling=sampling, seed=seed
        )
        if left_out := self.train_pairs.blank + self.train_pairs.too_long:
            logger.warning(
                "left out %d training pairs: %d with a blank side, %d with more than %s pieces on a side",
                left_out, self.train_pairs.blank, self.train_pairs.too_long, max_length,
            )  # fmt: skip
        self.valid_pairs = ParallelDataset(corpus.valid.sources, corpus.valid.targets, tokenizer)
        self.sampler = self._sampler(self.train_pairs, max_tokens, max_sentences, seed)
        self._valid_sampler = self._sampler(self.valid_pairs, max_tokens, max_sentences, seed)

    def setup(self, stage: str) -> None:
        """Report on the batches, once the number of processes is known."""
        if stage == "fit":
            logger.info(
                "%d training pairs in %d batches a process and epoch, %.1f %% padding",
                len(self.train_pairs), len(self.sampler), 100 * padding_share(self.sampler),
            )  # fmt: skip

    @staticmethod
    def _sampler(pairs: ParallelDataset, max_tokens: int, max_sentences: int | None, seed: int) -> TokenBudgetSampler:
        return TokenBudgetSampler(
            pairs.source_lengths, pairs.target_lengths, max_tokens, max_sentences=max_sentences, seed=seed
        )

    def train_dataloader(self) -> TrainLoader:
        """Batches that go on exactly where a checkpoint was made."""
        return TrainLoader(self.train_pairs, self.sampler, self._collate, self._position)

    def state_dict(self) -> dict[str, int]:
        """What the loader saves: the trainer restores loaders only where it has not asked for their length before."""
        return self.train_dataloader().state_dict()

    def load_state_dict(self, state_dict: dict[str, int]) -> None:
        """Raise UserError unless a checkpoint's batches are formed as ours are."""
        self.train_dataloader().load_state_dict(state_dict)

    def val_dataloader(self) -> EvalLoader:
        """All validation pairs, in the same batches each time."""
        return EvalLoader(self.valid_pairs, self._valid_sampler, self._collate)

    def _collate(self, pairs: list[Pair]) -> Batch:
        return collate(pairs, self._tokenizer.pad_id, self._tokenizer.bos_id, self._tokenizer.eos_id)

    def _position(self) -> int:
        """Batches that the trainer has trained on since the run began; 0 outside of a fit.

        Also mends a count, as an epoch begins: after a resume from the very last batch of an epoch the trainer (seen in
        Lightning 2.6) forgets to count the next one as begun. Checkpoints made in that epoch would then pass for
        complete ones, and on a second resume epochs would end, validate and step at other batches than without it.
        Where the counts are right this changes nothing.
        """
        if self.trainer is None or not self.trainer.training:
            return 0
        loop = self.trainer.fit_loop
        epochs: tuple[Any, ...] = (loop.epoch_progress.total, loop.epoch_progress.current)
        for count in epochs:
            count.ready = count.started = count.processed + 1
        batches: Any = loop.epoch_loop.batch_progress.total
        return int(batches.processed)

    def transfer_batch_to_device(self, batch: Any, device: torch.device, dataloader_idx: int) -> Any:
        """Copy without waiting for the GPU's work."""
        if device.type == "cuda":
            return batch.pin_memory().to(device, non_blocking=True)
        return batch.to(device)
