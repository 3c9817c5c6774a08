"""8-bit products: near the exact ones, and only where they pay."""

import pytest
import torch
from torch import nn

from translator.model.int8 import LEAST_WEIGHTS, Int8Linear, quantize


@pytest.mark.parametrize("bias", [True, False])
def test_products_are_near_the_exact_ones(bias: bool) -> None:
    torch.manual_seed(3)
    exact = nn.Linear(113, 307, bias=bias)
    exact.weight.data[7] *= 50.0  # a row of its own size must not cost the others their precision
    x = torch.randn(5, 11, 113)

    with torch.no_grad():
        wanted, found = exact(x), Int8Linear(exact.weight, exact.bias)(x)

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


def test_only_large_matrices_are_replaced() -> None:
    small, large = nn.Linear(64, 64), nn.Linear(512, LEAST_WEIGHTS // 512)
    model = nn.Sequential(small, nn.ModuleDict({"inside": large}))

    quantize(model)

    assert model[0] is small
    assert isinstance(model[1]["inside"], Int8Linear)
