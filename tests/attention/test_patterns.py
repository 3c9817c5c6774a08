"""Each pattern computes less than the explicit kernel under its mask does, and the same numbers."""

import pytest
import torch

from translator.attention.blocks import Blocks
from translator.attention.capture import capture
from translator.attention.kernels import attend, attend_explicit, attend_fused
from translator.attention.multihead import CausalSelfAttention, CrossAttention, SelfAttention
from translator.attention.patterns import Pattern, Strided, TopK, Window, choose_pattern
from translator.attention.rules import View, causal, everywhere
from translator.attention.selection import attend_chosen, choose_keys, top_keys
from translator.errors import UserError

B, H, DH, N = 2, 3, 5, 211
D = H * DH


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    yield
    torch.set_default_dtype(torch.float32)


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def explicit(q, k, v, visible, dropout_p=0.0):
    return attend_explicit(q, k, v, visible, dropout_p)[0]


KERNELS = {"explicit": explicit, "fused": attend_fused, "chosen": attend}
PATTERNS = {
    "window 1": lambda only: Window(1, causal_only=only),
    "window 7": lambda only: Window(7, causal_only=only),
    "window 71": lambda only: Window(71, causal_only=only),
    "stride 1": lambda only: Strided(1, causal_only=only),
    "stride 5": lambda only: Strided(5, causal_only=only),
    "stride 13": lambda only: Strided(13, causal_only=only),
    "top 1": lambda only: TopK(1, causal if only else everywhere),
    "top 4": lambda only: TopK(4, causal if only else everywhere),
    "top 300": lambda only: TopK(300, causal if only else everywhere),
}
SPLITS = [(0, 0, N), (150, 0, N), (150, 93, N), (N - 1, 0, N)]  # first query, first key, end


def tensors(first: int, start: int, end: int) -> list[torch.Tensor]:
    shapes = [(B, H, end - first, DH), (B, H, end - start, DH), (B, H, end - start, DH)]
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("causal_only", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_outputs_and_gradients_are_those_of_the_whole_matrix_under_its_mask(name, causal_only, split):
    pattern, inputs = PATTERNS[name](causal_only), tensors(*split)
    n_keys = split[2] - split[1]
    # A gap and a ragged end; some queries of the second sentence see nothing at all.
    real = torch.arange(n_keys) < torch.tensor([[n_keys], [n_keys // 3]])
    real[0, 11] = False
    for valid in (None, real):
        view = View(split[0], split[1], valid)
        expected = explicit(*inputs, pattern.visible(inputs[0], inputs[1], view))
        upstream = torch.randn_like(expected)
        gradients = torch.autograd.grad((expected * upstream).sum(), inputs)
        for kernel in KERNELS.values():
            found = pattern.attend(*inputs, view, kernel=kernel)
            close(found, expected)
            for ours, theirs in zip(torch.autograd.grad((found * upstream).sum(), inputs), gradients, strict=True):
                close(ours, theirs)


@pytest.mark.parametrize("name", ["window 7", "stride 5", "top 4"])
def test_a_query_that_sees_nothing_gets_zeros(name):
    pattern, inputs = PATTERNS[name](False), tensors(0, 0, N)
    valid = torch.zeros(B, N, dtype=torch.bool)
    valid[1] = True
    for kernel in KERNELS.values():
        out = pattern.attend(*inputs, View(valid=valid), kernel=kernel)
        assert (out[0] == 0).all()
        assert (out[1] != 0).all()


@pytest.mark.parametrize("name", ["window 7", "window 71", "stride 13"])
def test_no_matrix_of_the_whole_is_formed(name):
    """The largest thing that the kernel is given is far below n * n."""
    pattern, seen = PATTERNS[name](True), []

    def spy(q, k, v, visible, dropout_p):
        seen.append(max(visible.numel(), q.shape[0] * q.shape[2] * k.shape[2]))
        return explicit(q, k, v, visible, dropout_p)

    n = 3001
    pattern.attend(*(torch.randn(1, 1, n, 2) for _ in range(3)), View(), kernel=spy)
    assert seen == [pattern.products(n, n) // 2]
    assert seen[0] < n * n / 8


def test_the_pairs_of_a_window_grow_with_the_length_and_those_of_a_stride_with_its_root():
    blocks = Blocks(127, 0)
    assert blocks.pairs(8192, 8192) == 2 * blocks.pairs(4096, 4096) == 8192 * 255
    roots = [Blocks(s - 1, 0, s).pairs(s * s, s * s) / s**3 for s in (64, 128, 256)]
    assert max(roots) < 1.01 * min(roots)
    assert max(roots) < 3.01


@pytest.mark.parametrize("kind", [SelfAttention, CausalSelfAttention])
@pytest.mark.parametrize("given", [{"window": 5}, {"stride": 5}, {"top_k": 5}])
def test_capture_tells_whole_matrices_and_changes_no_output(kind, given):
    causal_only = kind is CausalSelfAttention
    attention = kind(D, H, rotary=False, **given)
    x = torch.randn(B, N, D)

    def run() -> torch.Tensor:
        out = attention(x)
        return out[0] if causal_only else out

    silent = run()
    with capture(attention) as record:
        close(run(), silent)
    weights = (record.decoder if causal_only else record.encoder)[0]
    assert weights.shape == (B, H, N, N)
    close(weights.sum(-1), torch.ones(B, H, N))
    most = {"window": 5 if causal_only else 9, "stride": 51, "top_k": 5}[next(iter(given))]
    assert (weights > 0).sum(-1).max() <= most


@pytest.mark.parametrize("given", [{}, {"window": 9}, {"stride": 9}, {"top_k": 2}, {"top_k": 9}])
def test_a_changed_token_leaves_earlier_outputs_bit_equal(given):
    attention = CausalSelfAttention(D, H, **given)
    x = torch.randn(B, N, D)
    changed = x.clone()
    changed[:, 120] += 1.0
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            before, after = attention(x)[0], attention(changed)[0]
        assert torch.equal(before[:, :120], after[:, :120])
        assert not torch.equal(before[:, 120], after[:, 120])


@pytest.mark.parametrize("given", [{"window": 9}, {"stride": 9}, {"top_k": 9}])
def test_dropout_works_in_training_only_and_keeps_the_mean(given):
    attention = CausalSelfAttention(D, H, dropout=0.5, **given)
    x = torch.randn(1, 150, D)
    clean = attention.eval()(x)[0]
    attention.train()
    draws = torch.stack([attention(x)[0] for _ in range(200)])
    assert not torch.equal(draws[0], draws[1])
    assert ((draws.mean(0) - clean).abs() < 6 * draws.std(0) / 200**0.5 + 1e-9).all()


@pytest.mark.parametrize("n_rows", [1, 3])
def test_cross_attention_keeps_the_best_keys_for_each_row(n_rows):
    attention = CrossAttention(D, H, n_kv_heads=1, top_k=2)
    memory, valid = torch.randn(B, 7, D), torch.arange(7) < torch.tensor([[1], [7]])
    seen = []
    attention.on_weights = seen.append
    x = torch.randn(B * n_rows, 4, D)
    listened = attention(x, attention.project_kv(memory), valid)
    assert ((seen[0] > 0).sum(-1) == torch.tensor([1, 2])[:, None, None]).all()
    attention.on_weights = None
    close(attention(x, attention.project_kv(memory), valid), listened)


def by_hand(row: list[float], k: int) -> set[int]:
    """Sorted by score, then by column; hidden ones never."""
    order = sorted((-score, column) for column, score in enumerate(row) if score > float("-inf"))
    return {column for _, column in order[:k]}


@pytest.mark.parametrize("k", [1, 2, 5, 11, 17])
def test_the_best_keys_are_those_of_brute_force_and_the_earlier_of_equals(k):
    scores = torch.randint(0, 4, (300, 11)).double()  # nearly all rows have equals at the bar
    scores[torch.rand(300, 11) < 0.3] = float("-inf")
    scores[7] = float("-inf")
    columns, seen = top_keys(scores, k)
    for row, taken, real in zip(scores.tolist(), columns, seen, strict=True):
        chosen = taken[real].tolist()
        assert len(chosen) == len(set(chosen))
        assert set(chosen) == by_hand(row, k)
    distinct = torch.rand(50, 11)
    columns, seen = top_keys(distinct, k)
    assert [set(row.tolist()) for row in columns] == [by_hand(row, k) for row in distinct.tolist()]
    assert seen.all()


def test_weights_are_exactly_zero_beyond_the_best():
    q, k, v = (torch.randn(B, H, 23, DH) for _ in range(3))
    pattern = TopK(4, causal)
    _, weights = attend_explicit(q, k, v, pattern.visible(q, k, View()))
    counts = (weights > 0).sum(-1)
    assert counts.unique().tolist() == [1, 2, 3, 4]
    scores = (q @ k.transpose(-2, -1)).masked_fill(torch.ones(23, 23).triu(1).bool(), float("-inf"))
    for row, kept in zip(scores.flatten(0, 2).tolist(), (weights > 0).flatten(0, 2), strict=True):
        assert set(kept.nonzero().flatten().tolist()) == by_hand(row, 4)


def test_keys_are_chosen_some_rows_at_a_time(monkeypatch):
    q, k, v = (torch.randn(B, H, N, DH) for _ in range(3))
    whole = choose_keys(q, k, View(), causal, 4)
    monkeypatch.setattr("translator.attention.selection._SCORES", 10 * B * H * N)
    parts = choose_keys(q, k, View(), causal, 4)
    assert torch.equal(whole[1], parts[1])
    close(attend_chosen(q, k, v, *parts, attend, 0.0), attend_chosen(q, k, v, *whole, attend, 0.0))


def test_numbers_that_say_nothing_are_refused():
    for given, message in (
        ({"window": 0}, "window must be at least 1, not 0"),
        ({"stride": -1}, "stride must be at least 1, not -1"),
        ({"top_k": 0}, "top_k must be at least 1, not 0"),
        ({"window": 3, "top_k": 2}, "window and top_k exclude each other"),
    ):
        with pytest.raises(UserError, match=message):
            choose_pattern(causal_only=True, **given)
    assert type(choose_pattern(causal_only=True)) is Pattern
