"""The newest state of training, saved at moments from which resuming repeats what would have come."""

from os import replace
from pathlib import Path
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer


class LastState(Callback):
    """Replaces ``path`` after every ``every``-th update, and after the last one of the run.

    Where a validation follows an update, the state is taken after it: one from before would lose its outcome, since
    a resumed run begins with the next batch. And the last update of a run is always followed by a validation, so that
    a run may end anywhere. Must stand behind whatever decides in the validation, such as early stopping, and before
    what logs at the beginning of a batch. The file is replaced in one move.
    """

    def __init__(self, path: Path, every: int) -> None:
        self._path, self._every = path, every
        self._update, self._due = 0, False

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """A resumed run has its state already."""
        self._update = trainer.global_step

    def on_train_batch_start(self, trainer: Trainer, *_: Any) -> None:
        """Mend the number that logs count by: a state from a validation that only the end called for has one less."""
        trainer.fit_loop.epoch_loop._batches_that_stepped = trainer.global_step

    def on_train_batch_end(self, trainer: Trainer, *_: Any) -> None:
        """Save now, or note that it is to be done after the validation."""
        if trainer.global_step == self._update:
            return  # within an accumulation window
        self._update = trainer.global_step
        if trainer.global_step == trainer.max_steps or _is_last_epoch_over(trainer):
            trainer.should_stop = True  # makes Lightning validate
        self._due = self._update % self._every == 0
        if self._due and not _validation_follows(trainer):
            self._save(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The averaged weights have been taken out again by now."""
        if self._due or trainer.should_stop:
            self._save(trainer)

    def _save(self, trainer: Trainer) -> None:
        """Lightning itself writes to the system's temporary folder, from where moving may be copying: not in one go."""
        self._due = False
        unfinished = self._path.with_name(f".{self._path.name}.tmp")
        trainer.save_checkpoint(unfinished)
        if trainer.is_global_zero:
            replace(unfinished, self._path)


def _validation_follows(trainer: Trainer) -> bool:
    if trainer.should_stop:
        return True
    if trainer.check_val_every_n_epoch is not None:
        return trainer.is_last_batch
    every = trainer.val_check_batch
    return every is not None and (trainer.fit_loop.total_batch_idx + 1) % every == 0


def _is_last_epoch_over(trainer: Trainer) -> bool:
    epochs: Any = trainer.fit_loop.epoch_progress.current
    return trainer.is_last_batch and bool(epochs.processed + 1 == trainer.max_epochs)
