"""8-bit products: near the exact ones, and only where they pay."""

from pathlib import Path

import pytest
import torch
from torch import nn

from tests import toy
from translator.inference.engine.int8 import LEAST_WEIGHTS, Int8Linear, quantize
from translator.inference.translator import Translator
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer


@pytest.mark.parametrize("bias", [True, False])
def test_products_are_near_the_exact_ones(bias: bool) -> None:
    torch.manual_seed(3)
    exact = nn.Linear(113, 307, bias=bias)
    exact.weight.data[7] *= 50.0  # a row of its own size must not cost the others their precision
    x = torch.randn(5, 11, 113)

    with torch.no_grad():
        wanted, found = exact(x), Int8Linear(exact.weight, exact.bias)(x)
        positive = Int8Linear(exact.weight, exact.bias, relu=True)(x)

    assert torch.equal(positive, found.clamp_min(0.0))
    assert found.shape == (5, 11, 307)
    error = (found - wanted).norm(dim=(0, 1)) / wanted.norm(dim=(0, 1))
    assert error.max() < 0.03
    assert error.min() > 0.0  # it did round


def test_a_row_of_zeros_stays_zero() -> None:
    weight = torch.zeros(3, 8)
    weight[1] = 1.0

    out = Int8Linear(weight, None)(torch.ones(2, 8))

    assert out[:, 0].tolist() == [0.0, 0.0]
    assert out[:, 1].tolist() == pytest.approx([8.0, 8.0], rel=0.02)


def test_only_large_matrices_and_the_vocabulary_are_replaced() -> None:
    torch.manual_seed(3)
    model = Transformer(
        ModelConfig(101, d_model=64, n_heads=4, n_encoder_layers=1, n_decoder_layers=1, d_ff=LEAST_WEIGHTS // 64)
    )
    model.eval()
    hidden = torch.randn(3, 5, 64)
    with torch.no_grad():
        wanted = model.logits(hidden)
        quantize(model)
        found = model.logits(hidden)

    layer = model.decoder[0]
    assert layer.feed_forward.up.in_features * layer.feed_forward.up.out_features == LEAST_WEIGHTS
    assert isinstance(layer.feed_forward.up, Int8Linear)
    assert isinstance(layer.feed_forward.down, Int8Linear)
    assert isinstance(layer.self_attn.q_proj, nn.Linear)
    assert layer.feed_forward(hidden).lt(0.0).any()
    assert layer.feed_forward.up(hidden).ge(0.0).all()  # the ReLU is part of it
    impossible = [model.config.pad_id, model.config.bos_id]
    assert found[..., impossible].eq(float("-inf")).all()
    possible = [index for index in range(101) if index not in impossible]
    assert (found - wanted)[..., possible].abs().max() < 0.1


def test_a_translator_of_8_bits_says_nearly_the_same(toy_bundle: Path) -> None:
    lines = toy.sentences(60, seed=8)
    exact, rounded = Translator.load(toy_bundle), Translator.load(toy_bundle, device="cpu", precision="int8")

    wanted, found = exact.translate(lines), rounded.translate(lines)

    same = sum(a.text == b.text for a, b in zip(wanted, found, strict=True))
    assert same >= 57
    assert any(a.score != b.score for a, b in zip(wanted, found, strict=True))
