"""A whole training: set-up, fit, final scores, bundle; and a short one of a model that has been changed."""

import errno
import logging
import math
import platform
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch import Trainer

from translator.bundle import METRICS, SETTINGS, WEIGHTS, Bundle, load_weights
from translator.device import choose_accelerator
from translator.errors import UserError
from translator.evaluation import measure
from translator.files import read_json, write_json
from translator.inference.options import TranslateOptions
from translator.inference.translator import Translator
from translator.training.config import TrainingConfig, run_name
from translator.training.run_directory import RunDirectory
from translator.training.setup import Run, prepare
from translator.training.trainer import build_trainer, hush_lightning
from translator.training.validation import Validation

logger = logging.getLogger("translator")

LR_SHARE = 0.25  # of the first training's peak rate: the weights are near an optimum already, and are to stay there
WARMUP = 100  # updates of warm-up at most: a short training has none to waste


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
    search = settings["decode"] | settings["validation"]
    for keywords in (settings["decode"], search):
        TranslateOptions.from_keywords(keywords)
    done = directory.path / METRICS
    if done.is_file() and (metrics := read_json(done)).get("asked") == config.trainer.ends:
        logger.info("%s is finished: nothing left to do (a higher trainer.max_epochs goes on)", directory.path)
        return _last_line(directory.path, metrics)
    accelerator = choose_accelerator(config.trainer.accelerator)
    run = prepare(settings, config, directory, start)
    validation = Validation(run.corpus.valid, run.tokenizer, run.limits, directory.path, search, config.trainer.monitor)
    trainer = build_trainer(config.trainer, accelerator, directory, validation, progress=sys.stderr.isatty())
    _fit(trainer, run)
    origin = _origin(trainer, run, validation.best, time.monotonic() - began)
    metrics = _final_scores(run) | origin
    if trainer.is_global_zero:
        write_json(done, metrics)
    return _last_line(directory.path, metrics)


def finetune(start: Bundle, trained_in: Path, output: Path, epochs: int, lr_share: float = LR_SHARE) -> dict[str, Any]:
    """Train ``start`` for some epochs as the run in ``trained_in`` was trained; the bundle is written to ``output``.

    Settings are those of that run, but for the length, a share of its peak learning rate and a short warm-up.
    It can be resumed as any run, with init_from=OUTPUT. Returns the figures that `train` returns, and raises as it
    does, or UserError where that folder does not say how it was trained.
    """
    path = trained_in / SETTINGS
    if not path.is_file():
        raise UserError(
            f"{path} is missing, so nothing says how to train on: write the bundle without fine-tuning, "
            "then python scripts/train.py init_from=BUNDLE data=... name=..."
        )
    settings = read_json(path)
    optimizer, schedule, trainer = (settings[part] for part in ("optimizer", "schedule", "trainer"))
    changed = {
        "optimizer": {**optimizer, "lr": optimizer["lr"] * lr_share},
        "schedule": {**schedule, "warmup": min(schedule["warmup"], WARMUP)},
        "trainer": {**trainer, "max_epochs": epochs, "max_updates": None, "max_minutes": None},
        "checkpoints": str(output.parent),
        "name": output.name,
        "variant": None,
        "resume": None,
        "init_from": str(output),  # what a resumed run begins with
    }
    return train({**settings, **changed}, start)


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
    except (OSError, UserError) as error:
        if errno.ENOSPC not in (getattr(error, "errno", None), getattr(error.__cause__, "errno", None)):
            raise
        raise UserError(
            f"no space left for {run.directory.path}: make room, then go on by resume=auto; what was saved is whole"
        ) from error


def _final_scores(run: Run) -> dict[str, Any]:
    """Scores of the best weights on the validation and test texts, as `evaluate` has them."""
    load_weights(run.directory.path / WEIGHTS, run.module.model)
    translator = Translator(run.module.model.eval(), run.tokenizer, limits=run.limits)
    options = TranslateOptions.from_keywords(run.settings["decode"])

    def translate(lines: Sequence[str]) -> list[str]:
        return [translation.text for translation in translator.translate_lines(lines, options)]

    scores = {}
    for name, text in {"valid": run.corpus.valid, **run.corpus.tests}.items():
        scores[name] = measure(translate, text.sources, text.targets)[1]
        logger.info("%s: BLEU %.2f (%s)", name, scores[name]["bleu"], scores[name]["signature"]["bleu"])
    return scores


def _origin(trainer: Trainer, run: Run, best: Mapping[str, float], seconds: float) -> dict[str, Any]:
    """Everything that is needed to tell how the scores came about."""
    batches: Any = trainer.fit_loop.epoch_loop.batch_progress.total
    versions = {"python": platform.python_version(), "torch": torch.__version__, "lightning": lightning.__version__}
    return {
        "best": best,
        "parameters": run.module.model.n_parameters,
        # Begun; the trainer's own count misses a broken-off one if it resumes from its end.
        "epochs": math.ceil(int(batches.processed) / trainer.num_training_batches),
        "updates": trainer.global_step,
        "seconds": seconds,
        "tokens_per_second": run.module.tokens_per_second,  # of each process
        "command": shlex.join(["python", *sys.argv]),
        "seed": run.config.seed,
        "precision": trainer.precision,
        "fingerprint": run.corpus.fingerprint,
        "asked": run.config.trainer.ends,
        "commit": _commit(),
        "versions": versions,
        "threads": torch.get_num_threads(),
    }


def _commit() -> str | None:
    """The commit of this program, where it runs from a checkout."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def _last_line(path: Path, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The short form of the metrics."""
    figures = {key: metrics[key] for key in ("parameters", "epochs", "updates", "seconds")}
    scores = {f"{name}_bleu": metrics[name]["bleu"] for name in ("valid", "test", "test_unseen") if name in metrics}
    return {"checkpoint": str(path), **figures, **scores, "signature": metrics["valid"]["signature"]["bleu"]}
