"""Costs that are worked out are those that are counted on real tensors."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from translator.model import costs
from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

BASE = ModelConfig(53, d_model=24, n_heads=6, n_encoder_layers=2, n_decoder_layers=3, d_ff=31, dropout=0.0)
SITES = [
    {},
    {"encoder_attention": Site(2, 5), "decoder_attention": Site(1, 7), "cross_attention": Site(3)},
    {"encoder_attention": Site(stride=5), "decoder_attention": Site(2, stride=7), "cross_attention": Site(top_k=3)},
    {"encoder_attention": Site(top_k=2), "decoder_attention": Site(1, top_k=70), "cross_attention": Site(1)},
]


@pytest.mark.parametrize("changes", SITES)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tying", ["all", "decoder", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_parameters_are_those_of_the_built_model(positions, tying, norm, changes):
    config = replace(BASE, positions=positions, max_positions=19, tie_embeddings=tying, norm=norm, **changes)
    with torch.device("meta"):
        built = Transformer(config)
    assert costs.parameters(config) == sum(p.numel() for p in built.parameters())


@pytest.mark.parametrize("tying", ["all", "decoder", "none"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(
    "changes",
    [
        {"n_decoder_layers": 0, "positions": "learned"},
        {"n_encoder_layers": 0, "cross": False, "output_bias": True},
        {"n_encoder_layers": 0, "memory_dim": 37, "positions": "learned"},
        {"output_bias": True, "positions": "learned"},
        {"n_encoder_layers": 0},
    ],
)
@pytest.mark.parametrize("embedding_norm", [False, True])
def test_parameters_of_single_stacks_and_options(embedding_norm, changes, norm, tying):
    config = replace(BASE, norm=norm, tie_embeddings=tying, embedding_norm=embedding_norm, **changes)
    with torch.device("meta"):
        built = Transformer(config)
    assert costs.parameters(config) == sum(p.numel() for p in built.parameters())


@pytest.mark.parametrize("n_kv_heads", [None, 2])
def test_a_model_too_large_to_build_is_counted(n_kv_heads):
    site = Site(n_kv_heads)
    config = ModelConfig(
        64_000, d_model=4096, n_heads=32, n_encoder_layers=24, n_decoder_layers=24, d_ff=16_384,
        encoder_attention=site, decoder_attention=site, cross_attention=site,
    )  # fmt: skip
    with torch.device("meta"):
        built = Transformer(config)
    counted = sum(p.numel() for p in built.parameters())
    assert costs.parameters(config) == counted > 5e9


def counted(run) -> int:
    """Multiply-adds of what runs with gradients, so by the written-out kernel on a CPU."""
    with FlopCounterMode(display=False) as counter:
        run()
    flops = counter.get_total_flops()
    assert flops % 2 == 0
    return flops // 2


@pytest.mark.parametrize(("source", "target"), [(3, 2), (150, 131)])
@pytest.mark.parametrize("changes", SITES)
def test_multiply_adds_are_those_of_the_matrix_products(changes, source, target):
    config = replace(BASE, **changes)
    model = Transformer(config)
    ids, valid = torch.full((1, source), 5), torch.ones(1, source, dtype=torch.bool)
    reading = costs.source_multiply_adds(config, source)
    assert counted(lambda: model.start(ids, valid)) == reading
    state, tgt_in = model.start(ids, valid), torch.full((1, target), 7)
    writing = costs.target_multiply_adds(config, source, target)
    assert counted(lambda: model.logits(model.extend(tgt_in, state)[0])) == writing
    assert costs.multiply_adds_per_token(config, source, target) == (reading / source, writing / target)
    _, later = model.extend(tgt_in, state)
    step = costs.target_multiply_adds(config, source, 1, past=target)
    assert counted(lambda: model.logits(model.extend(tgt_in[:, :1], later)[0])) == step


@pytest.mark.parametrize("changes", SITES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.no_grad()
def test_the_cache_holds_the_bytes_that_are_told(dtype, changes):
    config = replace(BASE, **changes)
    model = Transformer(config).to(dtype)
    source, number = 11, dtype.itemsize
    state = model.start(torch.full((1, source), 5), torch.ones(1, source, dtype=torch.bool))
    for target in (4, 9):
        _, grown = model.extend(torch.full((1, target), 7), state)
        tensors = [t for kv in (*grown.cross_kv, *grown.self_kv) for t in (kv.k, kv.v)]
        assert costs.cache_bytes(config, source, target, number) == sum(t.numel() * number for t in tensors)
    per_source, per_target = costs.cache_bytes_per_token(config, number)
    assert costs.cache_bytes(config, 1, 0, number) == per_source
    assert costs.cache_bytes(config, 0, 1, number) == per_target


@torch.no_grad()
def test_two_of_eight_key_value_heads_hold_exactly_a_quarter():
    held = []
    for sites in ({}, {f"{kind}_attention": Site(2) for kind in ("encoder", "decoder", "cross")}):
        model = Transformer(replace(BASE, n_heads=8, **sites))
        _, state = model.extend(torch.full((3, 7), 7), model.start(torch.full((3, 5), 5), torch.ones(3, 5).bool()))
        held.append([sum(t.nbytes for kv in kvs for t in (kv.k, kv.v)) for kvs in (state.self_kv, state.cross_kv)])
    (own, source), quarter = held
    assert quarter == [own / 4, source / 4]
    assert own == 3 * 7 * 3 * 2 * 24 * 4  # rows, tokens, layers, keys and values, d_model, bytes
