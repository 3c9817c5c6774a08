"""Small models that many tests share, trained once a session."""

import logging
import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from tests import toy
from translator.bundle import save_bundle
from translator.data.padding import pad
from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.inference.translator import Translator
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

STEPS, BATCH, WARM_UP, PEAK = 700, 32, 50, 4e-3


@pytest.fixture
def level() -> Iterator[None]:
    """A command that tells how far it is must not make later ones talk."""
    logger = logging.getLogger("translator")
    before = logger.level
    yield
    logger.setLevel(before)


@pytest.fixture(scope="session")
def toy_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Pieces of the toy language; the longer words have several."""
    lines = toy.sentences(400, seed=1)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    return train_tokenizer([*lines, *map(toy.expected, lines)], path, kind="bpe", vocab_size=110)


def toy_model(tokenizer: Tokenizer, seed: int = 7, **changes: object) -> Transformer:
    """An untrained model of the toy size."""
    torch.manual_seed(seed)
    sizes = {"d_model": 64, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 128, "dropout": 0.0}
    return Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **(sizes | changes)))


def teach(model: Transformer, tokenizer: Tokenizer, steps: int) -> None:
    """A plain training loop."""
    rng = random.Random(11)
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), fused=True)
    config, cpu = model.config, torch.device("cpu")
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = PEAK * min(step / WARM_UP, 0.5 * (1 + math.cos(math.pi * step / (steps + 1))))
        lines = [toy.sentence(rng, rng.randint(1, toy.LONGEST)) for _ in range(BATCH)]
        source, valid = pad([[*tokenizer.encode(line), config.eos_id] for line in lines], config.pad_id, cpu)
        targets = [tokenizer.encode(toy.expected(line)) for line in lines]
        target_in, _ = pad([[config.bos_id, *ids] for ids in targets], config.pad_id, cpu)
        target_out, real = pad([[*ids, config.eos_id] for ids in targets], config.pad_id, cpu)
        loss = F.cross_entropy(model(source, valid, target_in)[real], target_out[real])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


@pytest.fixture(scope="session")
def toy_bundle(toy_tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that translates the toy language nearly without fault."""
    model = toy_model(toy_tokenizer, seed=8)
    teach(model, toy_tokenizer, STEPS)
    directory = tmp_path_factory.mktemp("bundles") / "toy"
    save_bundle(directory, model, toy_tokenizer, source="aa", target="bb")
    return directory


@pytest.fixture(scope="session")
def flat_bundle(toy_tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle after a few updates: near-uniform distributions show what a good model hides."""
    model = toy_model(toy_tokenizer)
    teach(model, toy_tokenizer, 5)
    directory = tmp_path_factory.mktemp("bundles") / "flat"
    save_bundle(directory, model, toy_tokenizer, source="aa", target="bb")
    return directory


@pytest.fixture(scope="session")
def toy_translator(toy_bundle: Path) -> Translator:
    return Translator.load(toy_bundle)


@pytest.fixture(scope="session")
def flat_translator(flat_bundle: Path) -> Translator:
    return Translator.load(flat_bundle)
