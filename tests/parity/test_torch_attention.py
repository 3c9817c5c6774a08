"""Our three attentions are torch's, and shared key/value heads are torch's with the shared heads repeated."""

import pytest
import torch
from torch import nn

from tests.parity.mapping import close, copy_attention, give_attention, randomise
from translator.attention.capture import capture
from translator.attention.multihead import CausalSelfAttention, CrossAttention, MultiHeadAttention, SelfAttention

B, T, S, H, DH = 2, 5, 7, 3, 11
D, MEMORY = H * DH, 13


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=["explicit", "fused"])
def kernel(request):
    """On a CPU gradients choose the explicit kernel."""
    with torch.set_grad_enabled(request.param == "explicit"):
        yield request.param


def twins(ours: MultiHeadAttention, **sizes) -> nn.MultiheadAttention:
    theirs = nn.MultiheadAttention(D, H, batch_first=True, **sizes)
    randomise(theirs, 2)
    copy_attention(ours, theirs)
    return theirs


def lengths(width: int, *sizes: int) -> torch.Tensor:
    return torch.arange(width) < torch.tensor(sizes)[:, None]


def heard(attention: MultiHeadAttention, *inputs) -> torch.Tensor:
    weights: list[torch.Tensor] = []
    attention.on_weights = weights.append
    attention(*inputs)
    attention.on_weights = None
    return weights[0]


@pytest.mark.parametrize("valid", [None, lengths(T, 5, 3)])
def test_self_attention(kernel, valid):
    ours = SelfAttention(D, H)
    theirs = twins(ours)
    x = torch.randn(B, T, D)
    hidden = None if valid is None else ~valid
    out, weights = theirs(x, x, x, key_padding_mask=hidden, average_attn_weights=False)
    close(ours(x, valid), out)
    close(heard(ours, x, valid), weights)


def test_causal_self_attention(kernel):
    ours = CausalSelfAttention(D, H)
    theirs = twins(ours)
    x = torch.randn(B, T, D)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    out, weights = theirs(x, x, x, attn_mask=later, average_attn_weights=False)
    close(ours(x)[0], out)
    close(heard(ours, x), weights)


def test_windowed_self_attention(kernel):
    ours = CausalSelfAttention(D, H, window=2)
    theirs = twins(ours)
    x = torch.randn(B, T, D)
    band = torch.ones(T, T, dtype=torch.bool).tril().triu(-1)
    out, weights = theirs(x, x, x, attn_mask=~band, average_attn_weights=False)
    close(ours(x)[0], out)
    close(heard(ours, x), weights)


@pytest.mark.parametrize("width", [D, MEMORY])
@pytest.mark.parametrize("valid", [None, lengths(S, 4, 7)])
def test_cross_attention(kernel, width, valid):
    ours = CrossAttention(D, H, memory_dim=width)
    theirs = twins(ours, kdim=width, vdim=width)
    x, memory = torch.randn(B, T, D), torch.randn(B, S, width)
    hidden = None if valid is None else ~valid
    out, weights = theirs(x, memory, memory, key_padding_mask=hidden, average_attn_weights=False)
    close(ours(x, ours.project_kv(memory), valid), out)
    close(heard(ours, x, ours.project_kv(memory), valid), weights)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", [SelfAttention, CausalSelfAttention, CrossAttention])
def test_shared_heads_are_repeated_heads(kernel, kind, n_kv_heads):
    n_heads, dim = 6, 6 * DH
    shared, full = kind(dim, n_heads, n_kv_heads=n_kv_heads), kind(dim, n_heads)
    randomise(shared, 3)
    weights = shared.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        heads = weights[name].unflatten(0, (n_kv_heads, DH))
        weights[name] = heads.repeat_interleave(n_heads // n_kv_heads, dim=0).flatten(0, 1)
    full.load_state_dict(weights)

    x = torch.randn(B, T, dim)
    memory = torch.randn(B, S, dim)
    for ours, expected in zip(*(_outputs(model, x, memory) for model in (shared, full)), strict=True):
        close(ours, expected)
    assert shared.k_proj.out_features == n_kv_heads * DH


def _outputs(model: MultiHeadAttention, x: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = (x, model.project_kv(memory)) if isinstance(model, CrossAttention) else (x,)
    out = model(*inputs)
    return out[0] if isinstance(out, tuple) else out, heard(model, *inputs)


@pytest.mark.parametrize("width", [D, MEMORY])
def test_weights_go_there_and_back(width):
    """Ours in torch's module give what ours give, and come back bit by bit."""
    ours, again = (CrossAttention(D, H, memory_dim=width) for _ in range(2))
    randomise(ours, 5)
    theirs = nn.MultiheadAttention(D, H, batch_first=True, kdim=width, vdim=width)
    give_attention(ours, theirs)
    copy_attention(again, theirs)
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), again.parameters(), strict=True))

    x, memory, valid = torch.randn(B, T, D), torch.randn(B, S, width), lengths(S, 4, 7)
    out, weights = theirs(x, memory, memory, key_padding_mask=~valid, average_attn_weights=False)
    close(out, ours(x, ours.project_kv(memory), valid))
    close(weights, heard(ours, x, ours.project_kv(memory), valid))


def test_capture_hears_what_torch_tells():
    ours = SelfAttention(D, H)
    theirs = twins(ours)
    x = torch.randn(B, T, D)
    with capture(nn.ModuleList([ours])) as record:
        ours(x)
    close(record.encoder[0], theirs(x, x, x, average_attn_weights=False)[1])
