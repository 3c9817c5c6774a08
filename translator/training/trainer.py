"""The Lightning trainer, put together from our settings, and the callbacks that it runs beside validation."""

import logging
import sys
import warnings
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, TQDMProgressBar, WeightAveraging
from lightning.pytorch.callbacks.progress.tqdm_progress import Tqdm
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch import Tensor

from translator.device import choose_training_precision
from translator.files import replacing
from translator.training.config import TrainerConfig
from translator.training.run_directory import RunDirectory
from translator.training.validation import Validation


class MovingAverage(WeightAveraging):
    """An exponential moving average of the weights after every update: what is validated, kept and shipped.

    (Polyak 1992; Vaswani 2017, 5.4 averages too.) The decay rises to ``decay`` as min(decay, (1 + n) / (10 + n)) after
    n updates, so that a short training is not held back by its random start.
    """

    def __init__(self, decay: float) -> None:
        def average(averaged: Any, current: Any, n_averaged: Tensor | int) -> None:
            n = int(n_averaged)
            torch._foreach_lerp_(averaged, current, 1.0 - min(decay, (1 + n) / (10 + n)))

        super().__init__(use_buffers=False, multi_avg_fn=average)


class LastState(Callback):
    """Replaces ``path`` after every ``every``-th update, and after the last one of the run.

    What is saved can be resumed to repeat what would have come. Where a validation follows an update, the state is
    taken after it: one from before would lose its outcome, since a resumed run begins with the next batch. And the
    last update of a run is always followed by a validation, so that a run may end anywhere. Must stand behind whatever
    decides in the validation, such as early stopping, and before what logs at the beginning of a batch.
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
        epochs: Any = trainer.fit_loop.epoch_progress.current
        last_epoch_is_over = trainer.is_last_batch and epochs.processed + 1 == trainer.max_epochs
        if trainer.global_step == trainer.max_steps or last_epoch_is_over:
            trainer.should_stop = True  # makes Lightning validate
        self._due = self._update % self._every == 0
        by_epochs, every = trainer.check_val_every_n_epoch is not None, cast("int", trainer.val_check_batch)
        validates = trainer.is_last_batch if by_epochs else (trainer.fit_loop.total_batch_idx + 1) % every == 0
        if self._due and not (validates or trainer.should_stop):
            self._save(trainer)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """The averaged weights have been taken out again by now."""
        if self._due or trainer.should_stop:
            self._save(trainer)

    def _save(self, trainer: Trainer) -> None:
        """Lightning itself writes to the system's temporary folder, from where moving may be copying: not in one go."""
        self._due = False
        with replacing(self._path) if trainer.is_global_zero else nullcontext(self._path) as path:
            trainer.save_checkpoint(path)  # of all processes, though only the first one writes


class Progress(TQDMProgressBar):
    """Lightning's bar on stderr, since stdout holds results only, with tokens a second and the latest BLEU."""

    def init_train_tqdm(self) -> Tqdm:
        """The bar of one epoch."""
        return Tqdm(desc="epoch", dynamic_ncols=True, file=sys.stderr, smoothing=0)

    def init_validation_tqdm(self) -> Tqdm:
        """No bar of its own: a validation takes seconds."""
        return Tqdm(disable=True)

    def get_metrics(self, trainer: Trainer, pl_module: LightningModule) -> dict[str, Any]:
        """What stands behind the bar."""
        found: dict[str, Any] = {**trainer.callback_metrics, "speed": pl_module.tokens_per_second}
        shown = (("loss", "train_loss", ".3f"), ("tokens/s", "speed", ",.0f"), ("bleu", "valid_bleu", ".2f"))
        return {label: format(float(found[name]), form) for label, name, form in shown if name in found}


def build_trainer(
    config: TrainerConfig, accelerator: str, directory: RunDirectory, validation: Validation, progress: bool
) -> Trainer:
    """A trainer that logs under ``directory`` and leaves a state to resume from every ``save_every`` updates."""
    # In the order in which they must run: validation uses the averaged weights, and saving sees all states.
    callbacks: list[Callback] = [validation]
    if config.ema_decay:
        callbacks.append(MovingAverage(config.ema_decay))
    if config.patience is not None:
        watched, mode = f"valid_{config.monitor}", "max" if config.monitor == "bleu" else "min"
        callbacks.append(EarlyStopping(watched, patience=config.patience, mode=mode, check_on_train_epoch_end=False))
    if progress:
        callbacks.append(Progress(refresh_rate=20))
    callbacks += [LastState(directory.last, config.save_every), LearningRateMonitor("step")]
    logs = directory.training
    return Trainer(
        accelerator=accelerator,
        devices=config.devices,
        strategy=config.strategy,
        precision=choose_training_precision(config.precision, accelerator),  # type: ignore[arg-type]
        max_epochs=-1 if config.max_epochs is None else config.max_epochs,
        max_steps=-1 if config.max_updates is None else config.max_updates,
        max_time=None if config.max_minutes is None else timedelta(minutes=config.max_minutes),
        accumulate_grad_batches=config.accumulate_grad_batches,
        # Batches counted across the ends of epochs, so that an interval may be longer than an epoch.
        val_check_interval=config.validate_every * config.accumulate_grad_batches if config.validate_every else None,
        check_val_every_n_epoch=None if config.validate_every else 1,
        num_sanity_val_steps=0,
        log_every_n_steps=50,
        logger=[CSVLogger(logs, name="csv"), TensorBoardLogger(logs, name="tensorboard")],
        callbacks=callbacks,
        enable_progress_bar=progress,
        enable_model_summary=False,
        enable_checkpointing=False,  # `LastState` and `Validation` save
        use_distributed_sampler=False,  # ours deals the batches out to the processes itself
    )


def hush_lightning() -> None:
    """Leave only what is wrong of all that the training library has to say, and say it once."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module=r"lightning\.")
