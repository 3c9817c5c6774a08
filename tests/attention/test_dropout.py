import math

import pytest
import torch

from translator.attention.dropout import Dropout, dropout

LEVELS = 256


def test_evaluation_and_a_probability_of_zero_change_nothing():
    x = torch.randn(3, 5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x
    assert not torch.equal(Dropout(0.5).train()(x), x)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.9])
def test_the_share_of_zeros_is_p_and_the_rest_is_scaled_up(p):
    torch.manual_seed(1)
    n = 200_003
    out = dropout(torch.ones(n, dtype=torch.float64), p)
    rounded = round(p * LEVELS) / LEVELS
    assert abs(rounded - p) <= 1 / 512
    zeros = (out == 0).double().mean().item()
    assert abs(zeros - rounded) < 5 * math.sqrt(p * (1 - p) / n)
    torch.testing.assert_close(out[out != 0], torch.full_like(out[out != 0], 1 / (1 - rounded)), rtol=1e-15, atol=0)


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_the_expectation_is_the_input(p):
    torch.manual_seed(2)
    n = 200_003
    mean = dropout(torch.ones(n), p).mean().item()
    assert abs(mean - 1) < 5 * math.sqrt(p / (1 - p) / n)


def test_every_place_of_a_random_word_drops_as_often():
    """Elements share 64-bit words; a generator that never sets the sign bit would favour every eighth."""
    torch.manual_seed(3)
    rows = 20_000
    zeros = (dropout(torch.ones(rows, 8), 0.25) == 0).double()
    assert ((zeros.mean(0) - 0.25).abs() < 5 * math.sqrt(0.25 * 0.75 / rows)).all()
    correlation = torch.corrcoef(zeros.T) - torch.eye(8)
    assert correlation.abs().max() < 5 / math.sqrt(rows)


@pytest.mark.parametrize("p", [1e-5, 0.9999])
def test_extreme_probabilities_neither_drop_all_nor_divide_by_zero(p):
    torch.manual_seed(4)
    out = dropout(torch.ones(20_011), p)
    assert out.isfinite().all()
    assert 0 < (out == 0).sum() < len(out)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5, 7), (8, 2)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_shape_and_type_stay(shape, dtype):
    out = dropout(torch.ones(shape, dtype=dtype), 0.5)
    assert (out.shape, out.dtype) == (shape, dtype)


def test_a_strided_input_keeps_its_places():
    x = torch.arange(1.0, 16.0).view(3, 5).T
    torch.manual_seed(5)
    out = dropout(x, 0.5)
    kept = out != 0
    assert torch.equal(out[kept], 2 * x[kept])


def test_the_same_state_of_the_generator_gives_the_same_mask():
    x = torch.randn(11, 13)
    torch.manual_seed(6)
    first = dropout(x, 0.5)
    state = torch.get_rng_state()
    second = dropout(x, 0.5)
    assert not torch.equal(first, second)
    torch.set_rng_state(state)
    assert torch.equal(dropout(x, 0.5), second)


def test_the_gradient_is_the_mask_times_the_scale():
    torch.manual_seed(7)
    x = torch.randn(11, 13, dtype=torch.float64, requires_grad=True)
    out = dropout(x, 0.25)
    upstream = torch.randn_like(x)
    (gradient,) = torch.autograd.grad(out, x, upstream)
    expected = torch.where(out == 0, 0.0, upstream / 0.75)
    torch.testing.assert_close(gradient, expected, rtol=1e-14, atol=0)
    assert (out == 0).any()


def test_the_module_tells_its_probability():
    assert repr(Dropout(0.3)) == "Dropout(p=0.3)"
