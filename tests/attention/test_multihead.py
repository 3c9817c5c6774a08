import pytest
import torch
from torch import nn

from translator.attention.cache import KV
from translator.attention.heads import prune_attention
from translator.attention.multihead import CausalSelfAttention, CrossAttention, MultiHeadAttention, SelfAttention
from translator.errors import UserError

B, T, S, H, DH = 2, 5, 7, 3, 4
D = H * DH


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    yield
    torch.set_default_dtype(torch.float32)


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_a_width_that_the_heads_do_not_divide_is_refused():
    with pytest.raises(UserError, match=r"d_model \(13\) must be a multiple of n_heads \(3\)"):
        MultiHeadAttention(13, 3)
    with pytest.raises(UserError, match=r"d_model \(13\) must be a multiple of n_heads \(0\)"):
        MultiHeadAttention(13, 0)


@pytest.mark.parametrize("n_kv_heads", [0, 2, 6])
def test_heads_that_the_shared_heads_do_not_divide_are_refused(n_kv_heads):
    with pytest.raises(UserError, match=rf"n_heads \(3\) must be a multiple of n_kv_heads \({n_kv_heads}\)"):
        SelfAttention(D, H, n_kv_heads=n_kv_heads)


def test_rotary_positions_need_pairs():
    with pytest.raises(UserError, match="even head size, not 5"):
        SelfAttention(15, 3, rotary=True)


def test_a_window_of_nothing_is_refused():
    with pytest.raises(UserError, match="window must be at least 1, not 0"):
        CausalSelfAttention(D, H, window=0)


def test_query_heads_read_neighbouring_key_heads():
    heads = [MultiHeadAttention(12, 6, n_kv_heads=n).head_to_kv.tolist() for n in (6, 3, 2, 1)]
    assert heads == [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0] * 6]


def test_the_index_of_shared_heads_is_not_a_weight():
    assert "head_to_kv" not in MultiHeadAttention(D, H).state_dict()


@pytest.mark.parametrize("n_kv_heads", [1, 3, 6])
@pytest.mark.parametrize("pruned", [[], [1], [0, 1, 2, 4], [0, 1, 2, 3, 4, 5]])
def test_one_product_for_all_projections_learns_what_single_ones_do(n_kv_heads, pruned):
    attention, x = SelfAttention(6 * DH, 6, n_kv_heads=n_kv_heads), torch.randn(B, T, 6 * DH, requires_grad=True)
    prune_attention(attention, pruned)
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    singly = [p(x).view(B, T, p.out_features // DH, DH).transpose(1, 2) for p in projections]
    q, kv = attention.project(x, start=3)
    together = [q, kv.k, kv.v]
    sources, upstream = [x, *attention.parameters()][:7], [torch.randn_like(heads) for heads in singly]
    gradients = [torch.autograd.grad(heads, sources, upstream) for heads in (together, singly)]
    with torch.no_grad():
        q, without = attention.project(x, start=3)
    assert kv.start == without.start == 3
    for one, other, apart in zip(together, singly, (q, without.k, without.v), strict=True):
        close(one, other)
        close(one, apart)
    for one, other in zip(*gradients, strict=True):
        close(one, other)


@pytest.mark.parametrize("train", [True, False])
def test_dropout_works_in_training_only(train):
    attention = SelfAttention(D, H, dropout=0.5).train(train)
    x = torch.randn(B, T, D)
    assert torch.equal(attention(x), attention(x)) != train
    with torch.no_grad():
        assert torch.equal(attention(x), attention(x)) != train


def test_both_kernels_give_the_same_output():
    attention = SelfAttention(D, H, rotary=True)
    x, valid = torch.randn(B, T, D), torch.arange(T) < torch.tensor([[2], [5]])
    with torch.no_grad():
        fused = attention(x, valid)
    close(attention(x, valid), fused)


def test_a_padded_key_has_no_influence():
    attention = SelfAttention(D, H)
    x, valid = torch.randn(B, T, D), torch.arange(T) < torch.tensor([[2], [5]])
    changed = x.clone()
    changed[0, 2:] = 1e3
    assert torch.equal(attention(changed, valid)[0, :2], attention(x, valid)[0, :2])
    close(attention(x, valid)[:1, :2], attention(x[:1, :2]))


def test_a_windowed_encoder_sees_its_neighbours_on_both_sides():
    attention = SelfAttention(D, H, window=2)
    x = torch.randn(B, T, D)
    seen = []
    attention.on_weights = seen.append
    attention(x, torch.arange(T) < torch.tensor([[2], [5]]))
    assert [["".join(".x"[w > 0] for w in row) for row in sentence[0]] for sentence in seen[0]] == [
        ["xx...", "xx...", ".x...", ".....", "....."],
        ["xx...", "xxx..", ".xxx.", "..xxx", "...xx"],
    ]


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("window", [None, 1, 2, 3, 5, 11])
@pytest.mark.parametrize("chunk", [1, 2, 3, T])
def test_reading_in_chunks_is_reading_at_once(rotary, window, chunk):
    attention = CausalSelfAttention(D, H, n_kv_heads=1, window=window, rotary=rotary)
    x = torch.randn(B, T, D)
    whole, _ = attention(x)
    past, outputs = None, []
    for piece in x.split(chunk, dim=1):
        out, past = attention(piece, past)
        outputs.append(out)
        assert past.end == sum(o.shape[1] for o in outputs)
        assert past.k.shape[2] == (past.end if window is None else min(past.end, window - 1))
    close(torch.cat(outputs, dim=1), whole)


@pytest.mark.parametrize("window", [1, 3])
def test_a_past_longer_than_the_window_is_hidden(window):
    attention = CausalSelfAttention(D, H, window=window)
    x = torch.randn(B, T, D)
    out, _ = attention(x[:, -1:], attention.project_kv(x[:, :-1]))
    close(out, attention(x)[0][:, -1:])


@pytest.mark.parametrize("kind", [SelfAttention, CausalSelfAttention])
def test_rotary_weights_depend_on_distances_only(kind):
    """Equal tokens differ in nothing but their positions."""
    attention, seen = kind(D, H, rotary=True), []
    attention.on_weights = seen.append
    attention(torch.randn(1, 1, D).expand(1, T, D))
    against_itself = seen[0] / seen[0].diagonal(dim1=2, dim2=3)[..., None]
    for distance in range(1 - T, 1 if kind is CausalSelfAttention else T):
        band = against_itself.diagonal(distance, dim1=2, dim2=3)
        close(band, band[..., :1].expand_as(band))
    assert ((against_itself[..., -1, :-1] - 1).abs() > 1e-6).all()


def test_a_bounded_cache_costs_the_same_at_every_step():
    attention = CausalSelfAttention(D, H, window=3)
    past, seen = None, []
    attention.on_weights = lambda weights: seen.append(weights.shape[-1])
    for _ in range(11):
        _, past = attention(torch.randn(B, 1, D), past)
    assert seen == [1, 2, *[3] * 9]


@pytest.mark.parametrize("n_rows", [1, 3])
@pytest.mark.parametrize("n_kv_heads", [1, 3])
@pytest.mark.parametrize("grad", [True, False])
def test_rows_of_a_sentence_share_its_memory(n_rows, n_kv_heads, grad):
    """The same as copying the memory for every row."""
    attention = CrossAttention(D, H, n_kv_heads=n_kv_heads)
    x = torch.randn(B * n_rows, T, D)
    memory, valid = torch.randn(B, S, D), torch.arange(S) < torch.tensor([[3], [7]])
    with torch.set_grad_enabled(grad):
        shared = attention(x, attention.project_kv(memory), valid)
    copied = attention.project_kv(memory.repeat_interleave(n_rows, dim=0))
    close(shared, attention(x, copied, valid.repeat_interleave(n_rows, dim=0)))


def test_the_first_column_of_projected_keys_may_stand_anywhere():
    attention = MultiHeadAttention(D, H, n_kv_heads=1)
    kv = attention.project_kv(torch.randn(B, T, D), start=17)
    assert isinstance(kv, KV)
    assert (kv.k.shape, kv.v.shape, kv.start, kv.end) == ((B, 1, T, DH), (B, 1, T, DH), 17, 22)


@pytest.mark.parametrize("n_kv_heads", [None, 1])
@pytest.mark.parametrize("kind", [SelfAttention, CausalSelfAttention])
def test_projections_in_one_product_are_the_three(kind, n_kv_heads):
    attention = kind(D, H, n_kv_heads=n_kv_heads)
    nn.init.normal_(attention.k_proj.bias)
    x = torch.randn(B, T, D)
    q, kv = attention.project(x, start=3)
    wanted = attention(x)
    attention.join()
    assert set(dict(attention.named_children())) == {"qkv_proj", "out_proj"}
    found_q, found = attention.project(x, start=3)
    close(found_q, q)
    close(found.k, kv.k)
    close(found.v, kv.v)
    assert (found.start, found.end) == (3, 3 + T)
    if kind is SelfAttention:
        close(attention(x), wanted)
    else:
        close(attention(x)[0], wanted[0])
        out, _ = attention(x[:, 3:], attention(x[:, :3])[1])
        close(out, wanted[0][:, 3:])
