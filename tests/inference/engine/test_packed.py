"""Products over weights laid out once: the library's own numbers in bfloat16, with a ReLU where one follows."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests import toy
from tests.model.small import config, sources, words
from translator.inference.engine.packed import PackedLinear, pack
from translator.inference.engine.private_torch import multiplies_bfloat16
from translator.inference.engine.recorded import record
from translator.inference.translator import Translator
from translator.model.transformer import Transformer

pytestmark = pytest.mark.skipif(not multiplies_bfloat16(), reason="this processor has no products in bfloat16")


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(1,), (5, 11), (2, 0), (130,)])
def test_packed_products_are_the_librarys(shape, bias, relu):
    torch.manual_seed(3)
    linear = nn.Linear(113, 307, bias=bias).bfloat16()
    x = torch.randn(*shape, 113).bfloat16()
    with torch.no_grad():
        exact = linear.double()(x.double()) if bias else F.linear(x.double(), linear.double().weight)
        found = PackedLinear(linear.weight.bfloat16(), linear.bias.bfloat16() if bias else None, relu)(x)
    assert found.dtype == torch.bfloat16
    wanted = exact.clamp_min(0.0) if relu else exact
    torch.testing.assert_close(found.double(), wanted, rtol=2**-7, atol=2**-7)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@torch.no_grad()
def test_a_packed_model_gives_the_models_logits(activation):
    torch.manual_seed(3)
    model = Transformer(config(activation=activation)).eval()
    (ids, valid), target = sources(), words(3, 6)
    wanted = model(ids, valid, target)
    plain = model.bfloat16()(ids, valid, target)
    pack(model)
    found = model(ids, valid, target)
    assert not any(isinstance(module, nn.Linear) for module in model.modules())
    possible = wanted > float("-inf")
    assert torch.equal(found > float("-inf"), possible)
    error = (found.float() - wanted)[possible].abs().max()
    assert error < 1.5 * (plain.float() - wanted)[possible].abs().max() < 0.2


@torch.no_grad()
def test_a_packed_model_is_recorded():
    torch.manual_seed(3)
    model = Transformer(config()).eval().bfloat16()
    model.join_projections()
    pack(model)
    searched = record(model, patience=0)
    state, other = model.start(*sources()), searched.start(*sources())
    for t in range(4):
        last = words(3, 1, seed=t)[:, 0]
        expected, state = model.step(last, state)
        found, other = searched.step(last, other)
        assert torch.equal(found, expected)


def test_a_translator_that_stays_as_it_is_says_what_the_model_says(toy_bundle: Path) -> None:
    lines = toy.sentences(60, seed=8)
    exact = Translator.load(toy_bundle, "cpu", "bf16")
    packed = Translator.load_frozen(toy_bundle, "cpu", "bf16")
    assert any(isinstance(module, PackedLinear) for module in packed.model.modules())
    assert not any(isinstance(module, PackedLinear) for module in exact.model.modules())

    wanted, found = exact.translate(lines), packed.translate(lines)

    assert sum(a.text == b.text for a, b in zip(wanted, found, strict=True)) >= 57
