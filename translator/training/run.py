"""A whole training: corpus, tokenizer, model, fit, final scores, bundle."""

import errno
import logging
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import Trainer, seed_everything

from translator.checkpoint import TOKENIZER, Bundle, load_bundle, read_config, save_config
from translator.data.corpus import Corpus, load_corpus
from translator.data.datamodule import TranslationDataModule
from translator.data.parallel import ParallelText
from translator.data.tokenizer import Tokenizer
from translator.data.tokenizer_training import train_tokenizer
from translator.device import keep_freed_memory
from translator.errors import UserError
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer
from translator.options import TranslateOptions
from translator.training.config import TrainingConfig
from translator.training.module import TranslationModule
from translator.training.place import choose_accelerator, keep_compiled_products
from translator.training.report import already_finished, finish
from translator.training.rundir import RunDirectory
from translator.training.settings import absolute_paths, model_settings, run_name
from translator.training.trainer import build_trainer, hush_lightning
from translator.training.validation import Validation

logger = logging.getLogger("translator")


@dataclass(frozen=True)
class Run:
    """Everything of a run that is decided before the first update."""

    settings: Mapping[str, Any]
    config: TrainingConfig
    directory: RunDirectory
    corpus: Corpus
    tokenizer: Tokenizer
    module: TranslationModule
    batches: TranslationDataModule


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


def prepare(
    settings: Mapping[str, Any], config: TrainingConfig, directory: RunDirectory, start: Bundle | None = None
) -> Run:
    """Load and build everything, then claim the run's folder and write what no longer changes.

    Raises:
        UserError: as `train`.
    """
    keep_compiled_products()
    keep_freed_memory()
    if config.trainer.threads is not None:
        torch.set_num_threads(config.trainer.threads)
    data = absolute_paths(settings["data"])
    corpus = _limited(load_corpus(data), settings["debug"]["pairs"])
    if start is None and settings["init_from"] is not None:
        start = load_bundle(settings["init_from"])
    tokenizer = _tokenizer(corpus, settings["tokenizer"], directory, start)
    sampling = settings["tokenizer"]["sampling"]
    batches = TranslationDataModule(corpus, tokenizer, **asdict(config.batch), sampling=sampling, seed=config.seed)
    seed_everything(config.seed, verbose=False)
    model = _model(settings, tokenizer, start)
    logger.info("%d parameters, vocabulary of %d pieces", count_parameters(model), tokenizer.vocab_size)
    model.config.check_translates()
    fixed = {"model": model.config.to_dict(), "data": data, "fingerprint": corpus.fingerprint}
    directory.claim({**settings, **fixed}, settings["resume"])
    languages = {"source": corpus.source_lang, "target": corpus.target_lang}
    save_config(directory.path, model.config, tokenizer, **languages, data=data, decode=dict(settings["decode"]))
    return Run(settings, config, directory, corpus, tokenizer, TranslationModule(model, config), batches)


def _model(settings: Mapping[str, Any], tokenizer: Tokenizer, start: Bundle | None) -> Transformer:
    """The bundle's model to start from, else a new one with random weights."""
    if start is None:
        return Transformer(ModelConfig.from_dict(model_settings(settings, tokenizer)))
    logger.info("starting from given weights: model, attention and tokenizer are theirs, whatever the settings say")
    return start.model.train()


def count_parameters(model: Transformer) -> int:
    """Trainable numbers; tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


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


def _tokenizer(corpus: Corpus, settings: Mapping[str, Any], directory: RunDirectory, start: Bundle | None) -> Tokenizer:
    """The run's own if it is resumed, that of the weights to start from, the user's, else one trained on both sides."""
    if directory.has_tokenizer():
        return Tokenizer.load(directory.path / TOKENIZER, **read_config(directory.path)["tokenizer"])
    if start is not None:
        return start.tokenizer
    rule = settings["normalization"]
    lines = corpus.train.sources + corpus.train.targets
    if settings["model"] is not None:
        tokenizer = Tokenizer.load(settings["model"], rule)
    else:
        keys = ("kind", "vocab_size", "character_coverage", "byte_fallback", "normalization")
        with tempfile.TemporaryDirectory() as scratch:
            tokenizer = train_tokenizer(lines, Path(scratch, TOKENIZER), **{key: settings[key] for key in keys})
    altered = tokenizer.count_altered(lines)
    logger.info("normalization %s alters visible characters of %d of %d training lines", rule, altered, len(lines))
    return tokenizer


def _limited(corpus: Corpus, pairs: int | None) -> Corpus:
    """For debugging: the first few training pairs, which are validated on and tested on as well."""
    if pairs is None:
        return corpus
    few = ParallelText(corpus.train.sources[:pairs], corpus.train.targets[:pairs])
    return Corpus(few, few, {"test": few}, corpus.source_lang, corpus.target_lang, corpus.fingerprint)
