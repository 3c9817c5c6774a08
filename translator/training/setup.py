"""The set-up of a run: corpus, tokenizer, model, batches, folder."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from lightning.pytorch import seed_everything

from translator.bundle import CONFIG, TOKENIZER, Bundle, load_bundle, read_config, save_config
from translator.data.corpus import Corpus, load_corpus
from translator.data.datamodule import TranslationDataModule
from translator.data.parallel import ParallelText
from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.device import keep_compiled_products, keep_freed_memory
from translator.inference.segmentation import Limits
from translator.inference.sentences import sentence_ends
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer
from translator.training.config import TrainingConfig, absolute_paths, model_settings
from translator.training.module import TranslationModule
from translator.training.run_directory import RunDirectory

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
    limits: Limits  # what translating gives the model at once


def prepare(
    settings: Mapping[str, Any], config: TrainingConfig, directory: RunDirectory, start: Bundle | None = None
) -> Run:
    """Load and build everything, then claim the run's folder and write what no longer changes; raises as `train`."""
    keep_compiled_products()
    keep_freed_memory()
    if config.trainer.threads is not None:
        torch.set_num_threads(config.trainer.threads)
    data = absolute_paths(settings["data"])
    corpus = load_corpus(data)
    if (pairs := settings["debug"]["pairs"]) is not None:  # the first few, which are validated and tested on as well
        few = ParallelText(corpus.train.sources[:pairs], corpus.train.targets[:pairs])
        corpus = replace(corpus, train=few, valid=few, tests={"test": few})
    if start is None and settings["init_from"] is not None:
        start = load_bundle(settings["init_from"])
    tokenizer = _tokenizer(corpus, settings["tokenizer"], directory, start)
    sampling = settings["tokenizer"]["sampling"]
    batches = TranslationDataModule(corpus, tokenizer, **asdict(config.batch), sampling=sampling, seed=config.seed)
    seed_everything(config.seed, verbose=False)
    if start is None:
        model = Transformer(ModelConfig.from_dict(model_settings(settings, tokenizer)))
    else:
        logger.info("starting from given weights: model, attention and tokenizer are theirs, whatever the settings say")
        model = start.model.train()
    logger.info("%d parameters, vocabulary of %d pieces", model.n_parameters, tokenizer.vocab_size)
    model.config.check_translates()
    fixed = {"model": model.config.to_dict(), "data": data, "fingerprint": corpus.fingerprint}
    directory.claim({**settings, **fixed}, settings["resume"])
    languages = {"source": data["source"], "target": data["target"]}
    lengths = _lengths(corpus, batches)
    more: dict[str, Any] = {"data": data, "decode": dict(settings["decode"]), "lengths": lengths}
    save_config(directory.path, model.config, tokenizer, **languages, **more)
    limits = Limits(lengths["source_pieces"], lengths["source_sentences"])
    return Run(settings, config, directory, corpus, tokenizer, TranslationModule(model, config), batches, limits)


def _lengths(corpus: Corpus, batches: TranslationDataModule) -> dict[str, int]:
    """What training saw, so that translating gives the model no more at once.

    Pieces of a side: 99.9 % of the pairs have no more. Sentences of a source line: 95 % have no more, since what few
    lines show is not learned (a model that saw two sentences in 3 % of its lines loses the second of any other two).
    """
    pairs = batches.train_pairs
    sides = {"source_pieces": pairs.source_lengths, "target_pieces": pairs.target_lengths}
    found = {name: _quantile(lengths, 0.999) - 1 for name, lengths in sides.items()}  # the end of sentence left out
    return {**found, "source_sentences": _quantile([len(sentence_ends(x)) + 1 for x in corpus.train.sources], 0.95)}


def _quantile(values: Sequence[int], share: float) -> int:
    """The smallest value that so large a share does not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def _tokenizer(corpus: Corpus, settings: Mapping[str, Any], directory: RunDirectory, start: Bundle | None) -> Tokenizer:
    """The run's own if it is resumed, that of the weights to start from, the user's, else one trained on both sides."""
    if (directory.path / CONFIG).is_file():  # written after the tokenizer
        return Tokenizer.load(directory.path / TOKENIZER, **read_config(directory.path)["tokenizer"])
    if start is not None:
        return start.tokenizer
    rule = settings["normalization"]
    lines = corpus.train.sources + corpus.train.targets
    if settings["model"] is not None:
        tokenizer = Tokenizer.load(settings["model"], rule)
    else:
        keys = ("kind", "vocab_size", "character_coverage", "byte_fallback", "normalization")
        tokenizer = train_tokenizer(lines, **{key: settings[key] for key in keys})
    altered = tokenizer.count_altered(lines)
    logger.info("normalization %s alters visible characters of %d of %d training lines", rule, altered, len(lines))
    return tokenizer
