import math

import pytest
import torch

from translator.attention.kernels import attend_explicit, attend_fused, attention_weights, logarithm, prefers_explicit

B, H, Q, K, DH = 2, 3, 5, 7, 11


def inputs(dtype=torch.float64, requires_grad=False):
    torch.manual_seed(1)
    shapes = [(B, H, Q, DH), (B, H, K, DH), (B, H, K, DH)]
    return [torch.randn(shape).to(dtype).requires_grad_(requires_grad) for shape in shapes]


def masks() -> dict[str, torch.Tensor | None]:
    torch.manual_seed(2)
    random = torch.rand(B, H, Q, K) < 0.5
    random[..., 3] = True
    blind = random.clone()
    blind[0, 1, 2] = False
    blind[1, :, 0] = False
    padding = torch.ones(B, 1, 1, K, dtype=torch.bool)
    padding[1, ..., 4:] = False
    return {
        "none": None,
        "causal": torch.ones(Q, K, dtype=torch.bool).tril(),
        "padding": padding,
        "random": random,
        "blind rows": blind,
        "all hidden": torch.zeros(Q, K, dtype=torch.bool),
    }


def by_hand(q, k, v, visible):
    """Softmax over the visible keys alone, one query at a time."""
    seen = torch.ones(B, H, Q, K, dtype=torch.bool) if visible is None else visible.expand(B, H, Q, K)
    weights, out = torch.zeros(B, H, Q, K, dtype=q.dtype), torch.zeros_like(q)
    for index in torch.cartesian_prod(torch.arange(B), torch.arange(H), torch.arange(Q)).tolist():
        b, h, i = index
        keys = seen[b, h, i].nonzero().flatten()
        if len(keys):
            scores = torch.stack([q[b, h, i] @ k[b, h, j] for j in keys]) / math.sqrt(DH)
            weights[b, h, i, keys] = scores.softmax(0)
            out[b, h, i] = weights[b, h, i] @ v[b, h]
    return out, weights


@pytest.mark.parametrize("name", masks())
def test_both_kernels_are_the_formula(name):
    q, k, v = inputs()
    visible = masks()[name]
    out, weights = attend_explicit(q, k, v, visible)
    expected, expected_weights = by_hand(q, k, v, visible)
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(out, expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(attend_fused(q, k, v, visible), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", masks())
def test_both_kernels_have_the_same_finite_gradients(name):
    gradients = []
    for kernel in (lambda *a: attend_explicit(*a)[0], attend_fused):
        tensors = inputs(requires_grad=True)
        torch.manual_seed(3)
        out = kernel(*tensors, masks()[name])
        gradients.append(torch.autograd.grad((out * torch.randn_like(out) * 1e6).sum(), tensors))
    for explicit, fused in zip(*gradients, strict=True):
        assert explicit.isfinite().all()
        torch.testing.assert_close(explicit, fused, rtol=1e-11, atol=1e-6)


@pytest.mark.parametrize("n_keys", [1, 2, 15, 16, 17, 33])
def test_rows_of_any_length_learn_alike(n_keys):
    """Short rows are filled up; what fills them, and rows that see nothing, must show in no weight or gradient."""
    torch.manual_seed(5)
    q, k, v = (torch.randn(B, H, n, DH, dtype=torch.float64, requires_grad=True) for n in (Q, n_keys, n_keys))
    visible = torch.rand(B, H, Q, n_keys) < 0.7
    visible[0, 0, 0], visible[1, 2] = False, True
    out, weights = attend_explicit(q, k, v, visible)
    with torch.no_grad():
        plain, plain_weights = attend_explicit(q, k, v, visible)
    fused = attend_fused(q, k, v, visible)
    torch.testing.assert_close((out, weights), (plain, plain_weights), rtol=0, atol=1e-12)
    torch.testing.assert_close(out, fused, rtol=0, atol=1e-12)
    assert (weights[~visible] == 0).all()
    upstream = torch.randn_like(out)
    wanted = torch.autograd.grad(fused, (q, k, v), upstream)
    torch.testing.assert_close(torch.autograd.grad(out, (q, k, v), upstream), wanted, rtol=0, atol=1e-12)


def test_gradients_flow_through_the_weights_that_are_told():
    q, k, v = inputs(requires_grad=True)
    visible = masks()["blind rows"]
    assert torch.autograd.gradcheck(lambda *tensors: attend_explicit(*tensors, visible), (q, k, v))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", masks())
def test_narrow_types_give_numbers_too(name, dtype):
    """Scores of some hundreds, where a badly chosen constant overflows, and gradients through hidden rows."""
    q, k, v = inputs(dtype)
    q = (q * 100).requires_grad_()
    visible = masks()[name]
    out, weights = attend_explicit(q, k, v, visible)
    (gradient,) = torch.autograd.grad((out * 1e4).sum(), q)
    fused = attend_fused(q, k, v, visible)
    assert weights.dtype == torch.float32
    assert out.dtype == fused.dtype == dtype
    assert all(t.isfinite().all() for t in (out, weights, gradient, fused))
    expected = by_hand(q.detach().double(), k.double(), v.double(), visible)[0]
    tolerance = 1e-4 if dtype is torch.float32 else 0.2
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kernel", [lambda *a: attend_explicit(*a)[0], attend_fused])
def test_a_query_that_sees_nothing_gets_zeros(kernel):
    q, k, v = inputs(torch.float32)
    out = kernel(q, k, v, masks()["blind rows"])
    assert (out[0, 1, 2] == 0).all()
    assert (out[1, :, 0] == 0).all()
    assert (out[0, 0] != 0).all()


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e12])
def test_weights_sum_to_one_and_are_exactly_zero_where_invisible(scale):
    q, k, _ = inputs(torch.float32)
    visible = masks()["random"]
    weights = attention_weights(q * scale, k, visible)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, Q), rtol=0, atol=1e-6)
    assert (weights[~visible] == 0).all()
    assert (weights >= 0).all()


def test_hidden_keys_and_values_have_no_influence():
    q, k, v = inputs()
    visible = masks()["random"]
    visible = visible & (torch.arange(K) != 5)
    k2, v2 = k.clone(), v.clone()
    k2[:, :, 5], v2[:, :, 5] = 1e6, -1e6
    assert torch.equal(attend_explicit(q, k2, v2, visible)[0], attend_explicit(q, k, v, visible)[0])


def test_dropout_touches_the_output_and_not_the_weights_that_are_told():
    q, k, v = inputs()
    clean, told = attend_explicit(q, k, v, None)
    torch.manual_seed(4)
    noisy, noisy_told = attend_explicit(q, k, v, None, dropout_p=0.5)
    assert torch.equal(told, noisy_told)
    assert not torch.allclose(clean, noisy)
    draws = [attend_explicit(q, k, v, None, dropout_p=0.25)[0] for _ in range(1500)]
    mean, spread = torch.stack(draws).mean(0), torch.stack(draws).std(0)
    assert ((mean - clean).abs() < 5 * spread / math.sqrt(1500)).all()


def test_the_written_out_kernel_trains_on_a_cpu_and_the_fused_one_decodes():
    q = torch.ones(1, 1, 1, 2)
    assert not prefers_explicit(q, q)
    assert prefers_explicit(q.requires_grad_(), q)


def test_many_short_rows_are_written_out():
    q, few, many = torch.ones(64, 2, 1, 1), torch.ones(64, 2, 64, 1), torch.ones(64, 2, 65, 1)
    assert prefers_explicit(q, few)
    assert not prefers_explicit(q, many)
    assert not prefers_explicit(q[:63], few[:63])
    assert not prefers_explicit(q.bfloat16(), few.bfloat16())
    assert prefers_explicit(many.bfloat16(), few.bfloat16())


@pytest.mark.parametrize("kernel", [lambda *a: attend_explicit(*a)[0], attend_fused])
@pytest.mark.parametrize("name", [name for name in masks() if name != "none"])
def test_a_mask_may_come_as_its_logarithm(name, kernel):
    q, k, v = inputs()
    visible = masks()[name]
    assert torch.equal(kernel(q, k, v, logarithm(visible, q.dtype)), kernel(q, k, v, visible))
