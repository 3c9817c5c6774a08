"""The end of a run: final scores of the best weights, and everything needed to tell how they came about."""

import logging
import math
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch import Trainer

from translator.bundle import METRICS, WEIGHTS, load_weights
from translator.data.parallel import ParallelText
from translator.evaluation import measure
from translator.files import write_json
from translator.inference.options import TranslateOptions
from translator.inference.translator import Translator
from translator.training.config import TrainerConfig
from translator.training.run_directory import RunDirectory
from translator.training.setup import Run
from translator.training.validation import Validation

logger = logging.getLogger("translator")

#: What decides when a run ends.
HORIZON = ("max_epochs", "max_updates", "max_minutes")


def finish(trainer: Trainer, run: Run, validation: Validation, seconds: float) -> dict[str, Any]:
    """Score the best weights on the validation and test texts as `evaluate` does; write metrics.json.

    Returns what ends the run's output: see `last_line`.
    """
    path = run.directory.path
    model = run.module.model
    load_weights(path / WEIGHTS, model)
    translator = Translator(model.eval(), run.tokenizer)
    options = TranslateOptions.from_keywords(run.settings["decode"])

    def scored(name: str, text: ParallelText) -> dict[str, Any]:
        def translate(lines: Sequence[str]) -> list[str]:
            return [translation.text for translation in translator.translate_lines(lines, options)]

        scores = measure(translate, text.sources, text.targets)[1]
        logger.info("%s: BLEU %.2f (%s)", name, scores["bleu"], scores["signature"]["bleu"])
        return scores

    texts = {"valid": run.corpus.valid, **run.corpus.tests}
    metrics = {
        **{name: scored(name, text) for name, text in texts.items()},
        "best": asdict(validation.best),
        "parameters": model.n_parameters,
        "epochs": _epochs(trainer),
        "updates": trainer.global_step,
        "seconds": seconds,
        "tokens_per_second": run.module.tokens_seen / max(run.module.seconds, 1e-9),  # of each process
        "command": shlex.join(["python", *sys.argv]),
        "seed": run.config.seed,
        "precision": trainer.precision,
        "fingerprint": run.corpus.fingerprint,
        "asked": _horizon(run.config.trainer),
        "commit": _commit(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "lightning": lightning.__version__,
        },
        "threads": torch.get_num_threads(),
    }
    if trainer.is_global_zero:
        write_json(path / METRICS, metrics)
    return last_line(path, metrics)


def already_finished(directory: RunDirectory, config: TrainerConfig) -> dict[str, Any] | None:
    """The figures of a run that has nothing left to do, None of one that has."""
    metrics = directory.finished_metrics()
    if metrics is None or metrics.get("asked") != _horizon(config):
        return None
    logger.info("%s is finished: nothing left to do (a higher trainer.max_epochs goes on)", directory.path)
    return last_line(directory.path, metrics)


def last_line(path: Path, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The short form of the metrics."""
    figures = {"checkpoint": str(path), **{key: metrics[key] for key in ("parameters", "epochs", "updates", "seconds")}}
    for name in ("valid", "test", "test_unseen"):
        if name in metrics:
            figures[f"{name}_bleu"] = metrics[name]["bleu"]
    return {**figures, "signature": metrics["valid"]["signature"]["bleu"]}


def _epochs(trainer: Trainer) -> int:
    """Epochs begun; the trainer's own count misses a broken-off one if it resumes from its end."""
    batches: Any = trainer.fit_loop.epoch_loop.batch_progress.total
    return math.ceil(int(batches.processed) / trainer.num_training_batches)


def _horizon(config: TrainerConfig) -> dict[str, Any]:
    return {key: getattr(config, key) for key in HORIZON}


def _commit() -> str | None:
    """The commit of this program, where it runs from a checkout."""
    here = Path(__file__).parent
    try:
        told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return told.stdout.strip()
