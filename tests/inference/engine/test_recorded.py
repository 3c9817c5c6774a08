"""Recorded searches are the model's own, whatever the rows, columns and kernels; what cannot be recorded is not."""

import pytest
import torch

from tests.model.small import B, S, alike, small, sources, words
from translator.errors import UserError
from translator.inference.engine.recorded import Recorded, record
from translator.model.config import Site

CHANGES = [
    {},
    {"norm": "post"},
    {"positions": "learned"},
    {"embedding_norm": True, "embedding_scale": False, "activation": "gelu"},
    {"decoder_attention": Site(n_kv_heads=2), "cross_attention": Site(n_kv_heads=1)},
    {"encoder_attention": Site(n_kv_heads=3), "output_bias": True},
]


def recordings(model, patience=2):
    found = record(model, patience)
    assert isinstance(found, Recorded)
    return found


def walk(model, searched, n_beams, n_steps=11, source=None):
    """Both searched alike: expanded, reordered, thinned out; every step gives the same."""
    source = sources() if source is None else source
    state, other = model.start(*source), searched.start(*source)
    for kv, memory in zip(state.cross_kv, other.memory, strict=True):
        alike(memory[0], kv.k)
        alike(memory[1], kv.v)
    for t in range(n_steps):
        last = words(state.self_kv[0].k.shape[0] if t else len(source[0]), 1, seed=t)[:, 0]
        expected, state = model.step(last, state)
        found, other = searched.step(last, other)
        alike(found, expected)
        n = len(last) // len(state.src_valid)
        rows = torch.arange(len(last)).view(-1, n)
        rows = rows.expand(-1, n_beams) if n == 1 else rows.flip(1)
        rows = rows[1:] if t == 6 and len(rows) > 1 else rows
        state, other = state.select(rows), other.select(rows)
    for kv, buffer in zip(state.self_kv, other.buffers.layers, strict=True):
        alike(buffer[0, :, :, :n_steps], kv.k)
        alike(buffer[1, :, :, :n_steps], kv.v)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("n_beams", [1, 3, 40])
@torch.no_grad()
def test_recorded_searches_are_the_models_own(changes, n_beams):
    model = small(**changes)
    searched = recordings(model)
    walk(model, searched, n_beams)
    assert searched._recordings
    walk(model, searched, n_beams + 2)  # other shapes, same recordings
    branch, trunk = searched.start(*sources()), model.start(*sources())
    last = words(B, 1)[:, 0]
    (_, branch), (_, trunk) = searched.step(last, branch), model.step(last, trunk)
    one, two = (searched.step(words(B, 1, seed=s)[:, 0], branch) for s in (1, 2))
    for s, (logits, state) in zip((1, 2), (one, two), strict=True):
        expected, grown = model.step(words(B, 1, seed=s)[:, 0], trunk)
        alike(logits, expected)
        alike(searched.step(last, state)[0], model.step(last, grown)[0])


@pytest.mark.parametrize("changes", CHANGES[:3], ids=str)
@torch.no_grad()
def test_one_recorded_encoder_serves_sources_of_any_size(changes):
    model = small(**changes)
    searched = recordings(model, patience=1)
    for n_rows, length in [(3, 4), (3, 4), (1, 1), (2, 9), (30, 5), (30, 5), (1, 30), (2, 70), (1, 130)]:
        valid = torch.arange(length) < 1 + torch.arange(n_rows)[:, None] % length
        valid[0] = True
        walk(model, searched, 1, n_steps=2, source=(words(n_rows, length).masked_fill(~valid, 0), valid))
    assert sum(isinstance(kind[0], str) for kind in searched._recordings) == 2  # one for each kernel


@torch.no_grad()
def test_learned_positions_still_end():
    model = small(positions="learned", max_positions=S)
    searched = recordings(model, patience=0)
    walk(model, searched, 1, n_steps=S)
    with pytest.raises(UserError, match="learned positions"):
        walk(model, searched, 1, n_steps=S + 1)
    with pytest.raises(UserError, match="learned positions"):
        searched.start(words(1, S + 1), torch.ones(1, S + 1, dtype=torch.bool))


@torch.no_grad()
def test_layers_may_have_lost_different_heads():
    model = small()
    model.prune_heads({"decoder.0": [0, 4], "cross.1": [2], "encoder.1": [1, 3, 5]})
    walk(model, recordings(model, patience=1), 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": "rotary"},
        {"positions": "none"},
        {"encoder_attention": Site(window=2)},
        {"decoder_attention": Site(window=3)},
        {"cross_attention": Site(top_k=2)},
    ],
    ids=str,
)
def test_what_depends_on_where_it_stands_is_not_recorded(changes):
    model = small(**changes)
    assert record(model) is model


@torch.no_grad()
def test_nothing_is_recorded_before_it_pays():
    model = small()
    searched = recordings(model, patience=5)
    walk(model, searched, 1, n_steps=5)
    assert not searched._recordings
    walk(model, searched, 1, n_steps=1)
    assert len(searched._recordings) == 1


@torch.no_grad()
def test_a_recorded_step_slices_the_cache_and_nothing_else():
    model = small()
    searched = recordings(model, patience=0)
    walk(model, searched, 1)
    for kind, replay in searched._recordings.items():
        slices = replay.graph.findAllNodes("aten::slice")
        assert len(slices) == (0 if kind[0] == "start" else 4 * len(model.decoder))


@pytest.mark.parametrize("changes", CHANGES[-2:], ids=str)
@torch.no_grad()
def test_joined_projections_are_recorded(changes):
    model, joined = small(**changes), small(**changes)
    joined.join_projections()
    walk(model, recordings(joined, patience=1), 3)
