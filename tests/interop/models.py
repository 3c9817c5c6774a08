"""Untrained bundles of odd sizes whose translations end, and differ from sentence to sentence."""

import random

import torch

from tests import toy
from translator.checkpoint import FORMAT, Bundle
from translator.data.tokenizer import Tokenizer
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

H, DH, F = 3, 5, 23
D = H * DH
SIZES = {"d_model": D, "n_heads": H, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": F, "dropout": 0.0}

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


def lively(tokenizer: Tokenizer, norm: str, positions: str, tying: str, **changes: object) -> Bundle:
    """A random model with every parameter off its starting value, inclined to end and never to say the unknown piece.

    There is no output bias to set, so one direction of the last hidden vector serves as one: it is always on, and the
    output vectors of these two pieces lie along it.
    """
    torch.manual_seed(5)
    choice = {"norm": norm, "positions": positions, "tie_embeddings": tying, "max_positions": 67}
    model = Transformer(ModelConfig(vocab_size=tokenizer.vocab_size, **(SIZES | choice | changes))).eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        last = model.decoder_norm if norm == "pre" else model.decoder[-1].ff_residual.norm  # type: ignore[union-attr]
        direction = torch.nn.functional.normalize(torch.randn(model.config.d_model), dim=0)
        last.bias.add_(3.0 * direction)  # type: ignore[union-attr, operator]
        model.output.weight[model.config.eos_id] += direction  # type: ignore[operator]
        model.output.weight[model.config.unk_id] = -10.0 * direction  # type: ignore[operator]
    config = {
        "format": FORMAT,
        "source": "aa",
        "target": "bb",
        "model": model.config.to_dict(),
        "tokenizer": {"normalization": tokenizer.normalization},
        "data": {"kind": "files", "train": ["secret/path"]},
    }
    return Bundle(model, tokenizer, config)


SENTENCES = toy.sentences(9, seed=83)


def pairs(tokenizer: Tokenizer) -> tuple[list[list[int]], list[list[int]]]:
    """Piece ids of toy sentences, and of translations of other sentences: targets that no model expects."""
    targets = [toy.expected(line) for line in SENTENCES]
    random.Random(2).shuffle(targets)
    return [tokenizer.encode(line) for line in SENTENCES], [tokenizer.encode(line) for line in targets]
