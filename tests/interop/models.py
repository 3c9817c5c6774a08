"""Small bundles of odd sizes: untrained ones of every variant, and trained ones whose translations end and differ."""

import random
from functools import cache

import torch
import torch.nn.functional as F

from tests import toy
from translator.bundle import FORMAT, Bundle
from translator.data.padding import pad
from translator.data.tokenizer import Tokenizer
from translator.decoding.beam import beam_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import SearchRules
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

H, D, D_FF = 3, 15, 23
SIZES = {"n_heads": H, "n_encoder_layers": 2, "n_decoder_layers": 3, "dropout": 0.0, "max_positions": 67}

#: Norm, positions, tying: every value with every other value of the other two somewhere.
VARIANTS = [
    ("pre", "sinusoidal", "all"),
    ("post", "sinusoidal", "all"),
    ("pre", "learned", "none"),
    ("post", "learned", "decoder"),
    ("pre", "sinusoidal", "decoder"),
    ("post", "sinusoidal", "none"),
    ("pre", "learned", "all"),
    ("post", "learned", "all"),
]
#: Those that are worth a training: both classes, both kinds of positions.
TRAINED = [VARIANTS[0], VARIANTS[3]]

SENTENCES = toy.sentences(9, seed=83, longest=3)


def untrained(
    tokenizer: Tokenizer, norm: str, positions: str, tying: str, noise: float = 0.1, **changes: object
) -> Bundle:
    """A random model with every parameter off its starting value: zero biases would hide a slip."""
    choice: dict[str, object] = {"norm": norm, "positions": positions, "tie_embeddings": tying}
    torch.manual_seed(5)
    settings = {"d_model": D, "d_ff": D_FF} | SIZES | choice | changes
    model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **settings)).eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    config = {
        "format": FORMAT,
        "source": "aa",
        "target": "bb",
        "model": model.config.to_dict(),
        "tokenizer": {"normalization": tokenizer.normalization},
        "data": {"kind": "files", "train": ["secret/path"]},
    }
    return Bundle(model, tokenizer, config)


@cache
def trained(tokenizer: Tokenizer, norm: str, positions: str, tying: str) -> Bundle:
    """A model that has learned when a sentence ends, and hardly more: its translations are wrong in many ways.

    Without training, what a model says repeats itself without an end.
    """
    bundle = untrained(tokenizer, norm, positions, tying, noise=0.0, d_model=2 * D, d_ff=61)
    model, config, rng = bundle.model.train(), bundle.model.config, random.Random(11)
    optimizer, cpu = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98)), torch.device("cpu")
    for _ in range(40):
        lines = [toy.sentence(rng, rng.randint(1, 3)) for _ in range(16)]
        targets = [tokenizer.encode(toy.expected(line)) for line in lines]
        source, valid = pad([[*tokenizer.encode(line), config.eos_id] for line in lines], config.pad_id, cpu)
        target_in, _ = pad([[config.bos_id, *ids] for ids in targets], config.pad_id, cpu)
        target_out, real = pad([[*ids, config.eos_id] for ids in targets], config.pad_id, cpu)
        loss = F.cross_entropy(model(source, valid, target_in)[real], target_out[real])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    return bundle


def searched(bundle: Bundle, limit: int, length_penalty: float) -> list[Hypothesis]:
    """Our translations of `SENTENCES`, the unknown piece allowed: others share out its probability if it is not."""
    config = bundle.model.config
    rows = [[*bundle.tokenizer.encode(line), config.eos_id] for line in SENTENCES]
    source, valid = pad(rows, config.pad_id, torch.device("cpu"))
    with torch.no_grad():
        state = bundle.model.start(source, valid)
    rules = SearchRules(config.bos_id, config.eos_id, length_penalty)
    found = beam_search(bundle.model.step, state, torch.full((len(rows),), limit), rules, beam_size=5)
    best = [of_sentence[0] for of_sentence in found]
    assert all(hypothesis.finished for hypothesis in best)
    assert len({hypothesis.ids for hypothesis in best}) > 4
    return best


def pairs(tokenizer: Tokenizer) -> tuple[list[list[int]], list[list[int]]]:
    """Piece ids of toy sentences, and of translations of other sentences: targets that no model expects."""
    lines = toy.sentences(9, seed=29)
    targets = [toy.expected(line) for line in lines]
    random.Random(2).shuffle(targets)
    return [tokenizer.encode(line) for line in lines], [tokenizer.encode(line) for line in targets]
