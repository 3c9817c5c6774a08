"""The chunked loss against PyTorch's, its gradients, and what must not change it."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from translator.training import loss as loss_module
from translator.training.loss import smoothed_cross_entropy

D, V = 7, 23
IMPOSSIBLE = torch.tensor([0, 2, 19])
POSSIBLE = [i for i in range(V) if i not in (0, 2, 19)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of 3 rows in blocks of 11, so that neither fits into the other."""
    monkeypatch.setattr(loss_module, "BLOCK", 11)
    monkeypatch.setattr(loss_module, "CHUNK", 3)


def case(rows: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden states, output embeddings and possible targets."""
    generator = torch.Generator().manual_seed(rows)
    hidden = torch.randn(rows, D, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    weight = torch.randn(V, D, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    targets = torch.tensor(POSSIBLE)[torch.randint(len(POSSIBLE), (rows,), generator=generator)]
    return hidden, weight, targets


def reference(hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """PyTorch's loss, over a vocabulary from which the impossible rows have been taken out."""
    places = torch.tensor([POSSIBLE.index(int(target)) for target in targets])
    logits = hidden @ weight[POSSIBLE].t()
    return F.cross_entropy(logits, places, label_smoothing=smoothing, reduction="sum")


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 10, 11, 12, 22, 23, 37])
def test_loss_and_gradients_are_those_of_the_whole_matrix(rows: int, smoothing: float) -> None:
    hidden, weight, targets = case(rows)
    loss, nll = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, smoothing)
    expected = reference(hidden, weight, targets, smoothing)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(nll, reference(hidden, weight, targets, 0.0), rtol=1e-12, atol=1e-12)

    found = torch.autograd.grad(5.0 * loss, (hidden, weight))
    wanted = torch.autograd.grad(5.0 * expected, (hidden, weight))
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_bias_is_part_of_every_logit(smoothing: float) -> None:
    hidden, weight, targets = case(12)
    bias = torch.linspace(-2.0, 3.0, V, dtype=torch.float64).requires_grad_()
    loss, _ = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, smoothing, bias)
    places = torch.tensor([POSSIBLE.index(int(target)) for target in targets])
    logits = hidden @ weight[POSSIBLE].t() + bias[POSSIBLE]
    expected = F.cross_entropy(logits, places, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=1e-12)
    parts = (hidden, weight, bias)
    torch.testing.assert_close(
        torch.autograd.grad(loss, parts), torch.autograd.grad(expected, parts), rtol=1e-10, atol=1e-12
    )


def test_impossible_ids_get_no_mass_and_no_gradient() -> None:
    hidden, weight, targets = case(13)
    before = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, 0.3)[0]
    (gradient,) = torch.autograd.grad(before, weight)
    assert torch.equal(gradient[IMPOSSIBLE], torch.zeros(3, D, dtype=torch.float64))
    assert bool((gradient[POSSIBLE] != 0).any(dim=1).all())
    with torch.no_grad():
        weight[IMPOSSIBLE] = 1e3
    after = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, 0.3)[0]
    torch.testing.assert_close(after, before, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_model_without_preferences_costs_the_log_of_the_possible_ids(smoothing: float) -> None:
    _, weight, targets = case(17)
    weight = weight.detach()
    flat = torch.zeros(17, D, dtype=torch.float64)
    loss, nll = smoothed_cross_entropy(flat, weight, targets, IMPOSSIBLE, smoothing)
    assert float(loss) / 17 == pytest.approx(math.log(len(POSSIBLE)), rel=1e-12)
    assert float(nll) / 17 == pytest.approx(math.log(len(POSSIBLE)), rel=1e-12)


def test_rows_add_up_whatever_stands_beside_them() -> None:
    hidden, weight, targets = case(29)
    whole = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, 0.1)[0]
    single = [
        smoothed_cross_entropy(hidden[i : i + 1], weight, targets[i : i + 1], IMPOSSIBLE, 0.1)[0] for i in range(29)
    ]
    torch.testing.assert_close(sum(single), whole, rtol=1e-12, atol=1e-12)


def test_very_large_logits_stay_finite() -> None:
    hidden, weight, targets = case(5, torch.float32)
    loss, nll = smoothed_cross_entropy(hidden * 1e4, weight, targets, IMPOSSIBLE, 0.1)
    (gradient,) = torch.autograd.grad(loss, weight)
    assert bool(torch.isfinite(torch.stack((loss, nll))).all())
    assert bool(torch.isfinite(gradient).all())


def test_autocast_runs_the_products_in_its_type_and_stays_close_to_float32() -> None:
    hidden, weight, targets = case(37, torch.float32)
    exact, exact_nll = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, 0.1)
    wanted = torch.autograd.grad(exact, (hidden, weight))
    with torch.autocast("cpu", torch.bfloat16):
        loss, nll = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, 0.1)
    assert loss.dtype == nll.dtype == torch.float32
    assert not torch.equal(loss, exact)  # so autocast has been seen
    torch.testing.assert_close(torch.stack((loss, nll)), torch.stack((exact, exact_nll)), rtol=1e-2, atol=0.0)
    for found, expected in zip(torch.autograd.grad(loss, (hidden, weight)), wanted, strict=True):
        assert found.dtype == torch.float32
        assert float((found - expected).norm() / expected.norm()) < 0.02


def test_validation_needs_no_gradient() -> None:
    hidden, weight, targets = case(13)
    with torch.no_grad():
        loss, nll = smoothed_cross_entropy(hidden, weight, targets, IMPOSSIBLE, 0.0)
    assert not loss.requires_grad
    torch.testing.assert_close(loss, nll, rtol=1e-12, atol=0.0)
    torch.testing.assert_close(loss, reference(hidden, weight, targets, 0.0).detach(), rtol=1e-12, atol=1e-12)
