"""The Lightning trainer, put together from our settings."""

import logging
import warnings
from datetime import timedelta

from lightning.pytorch import Callback, Trainer
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

from translator.device import choose_training_precision
from translator.training.averaging import MovingAverage
from translator.training.config import TrainerConfig
from translator.training.progress import Progress
from translator.training.run_directory import RunDirectory
from translator.training.saving import LastState
from translator.training.validation import Validation


def build_trainer(
    config: TrainerConfig, accelerator: str, directory: RunDirectory, validation: Validation, progress: bool
) -> Trainer:
    """A trainer that logs under ``directory`` and leaves a state to resume from every ``save_every`` updates."""
    logs = directory.training
    by_updates = config.validate_every is not None
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
        check_val_every_n_epoch=None if by_updates else 1,
        num_sanity_val_steps=0,
        log_every_n_steps=50,
        logger=[CSVLogger(logs, name="csv"), TensorBoardLogger(logs, name="tensorboard")],
        callbacks=_callbacks(config, directory, validation, progress),
        enable_progress_bar=progress,
        enable_model_summary=False,
        enable_checkpointing=False,  # `LastState` and `Validation` save
        use_distributed_sampler=False,  # ours deals the batches out to the processes itself
    )


def _callbacks(
    config: TrainerConfig, directory: RunDirectory, validation: Validation, progress: bool
) -> list[Callback]:
    """In the order in which they must run: validation uses the averaged weights, and saving sees all states."""
    callbacks: list[Callback] = [validation]
    if config.ema_decay:
        callbacks.append(MovingAverage(config.ema_decay))
    if config.patience is not None:
        mode = "max" if config.monitor == "bleu" else "min"
        callbacks.append(
            EarlyStopping(
                f"valid_{config.monitor}", patience=config.patience, mode=mode, check_on_train_epoch_end=False
            )
        )
    if progress:
        callbacks.append(Progress(validation))
    return [*callbacks, LastState(directory.last, config.save_every), LearningRateMonitor("step")]


def hush_lightning() -> None:
    """Leave only what is wrong of all that the training library has to say, and say it once."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", module=r"lightning\.")
