"""A whole training: set-up, fit, final scores, bundle."""

import errno
import logging
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lightning.pytorch import Trainer

from translator.bundle import Bundle
from translator.device import choose_accelerator
from translator.errors import UserError
from translator.inference.options import TranslateOptions
from translator.training.config import TrainingConfig
from translator.training.final_scores import already_finished, finish
from translator.training.run_directory import RunDirectory
from translator.training.settings import run_name
from translator.training.setup import Run, prepare
from translator.training.trainer import build_trainer, hush_lightning
from translator.training.validation import Validation

logger = logging.getLogger("translator")


def train(settings: Mapping[str, Any], start: Bundle | None = None) -> dict[str, Any]:
    """Train as the composed settings say and return the figures that end the run.

    The bundle stands complete in ``checkpoints/NAME`` from the first validation on. ``start`` is a loaded bundle to
    train on from, in place of one named by the setting ``init_from``.

    Raises:
        UserError: settings, data or an existing run do not allow it; nothing has been written then.
        KeyboardInterrupt: the user stopped it; the newest state on disk can be resumed.
    """
    began = time.monotonic()
    hush_lightning()
    directory = RunDirectory(Path(settings["checkpoints"]) / run_name(settings))
    directory.check(settings["resume"])
    config = TrainingConfig.from_dict(settings)
    for search in (settings["decode"], settings["decode"] | settings["validation"]):
        TranslateOptions.from_keywords(search)
    if (figures := already_finished(directory, config.trainer)) is not None:
        return figures
    accelerator = choose_accelerator(config.trainer.accelerator)
    run = prepare(settings, config, directory, start)
    search = settings["decode"] | settings["validation"]
    validation = Validation(run.corpus.valid, run.tokenizer, directory.path, search, config.trainer.monitor)
    trainer = build_trainer(config.trainer, accelerator, directory, validation, progress=sys.stderr.isatty())
    _fit(trainer, run)
    return finish(trainer, run, validation, time.monotonic() - began)


def _fit(trainer: Trainer, run: Run) -> None:
    last = run.directory.last
    state = str(last) if last.is_file() else None
    if state:
        logger.info("going on from update %d, kept in %s", run.directory.updates_done(), state)
    elif run.settings["resume"]:
        logger.info("no state to resume from yet: starting from the beginning")
    try:
        trainer.fit(run.module, datamodule=run.batches, ckpt_path=state, weights_only=True)
    except (KeyboardInterrupt, SystemExit) as error:  # Lightning makes the latter of the former
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on, being asked again changes nothing
        kept = f"goes on from update {run.directory.updates_done()}" if last.is_file() else "starts anew: no state yet"
        logger.info("stopped; the same command with resume=auto %s", kept)
        raise KeyboardInterrupt from error
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise UserError(
            f"no space left for {run.directory.path}: make room, then go on by resume=auto; what was saved is whole"
        ) from error
