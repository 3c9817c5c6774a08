"""Recorded steps are the model's own, whatever the rows, columns and kernels; what cannot be recorded is not."""

import pytest
import torch

from tests.model.small import B, alike, small, sources, words
from translator.model.config import Site
from translator.model.recorded import RecordedStep

CHANGES = [
    {},
    {"norm": "post"},
    {"positions": "learned"},
    {"decoder_attention": Site(n_kv_heads=2), "cross_attention": Site(n_kv_heads=1)},
    {"output_bias": True},
]


def walk(model, recorded, n_beams, n_steps=11):
    """Both searched alike: expanded, reordered, thinned out; every step gives the same."""
    state = model.start(*sources())
    other = state
    for t in range(n_steps):
        last = words(other.self_kv[0].k.shape[0] if t else B, 1, seed=t)[:, 0]
        expected, state = model.step(last, state)
        found, other = recorded(last, other)
        alike(found, expected)
        n = len(last) // len(state.src_valid)
        rows = torch.arange(len(last)).view(-1, n)
        rows = rows.expand(-1, n_beams) if n == 1 else rows.flip(1)
        rows = rows[1:] if t == 6 else rows
        state, other = state.select(rows), other.select(rows)
    for one, two in zip(state.self_kv, other.self_kv, strict=True):
        alike(two.k, one.k)
        alike(two.v, one.v)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("n_beams", [1, 3, 40])
@torch.no_grad()
def test_recorded_steps_are_the_models_own(changes, n_beams):
    model = small(**changes)
    recorded = RecordedStep(model, patience=2)
    walk(model, recorded, n_beams)
    assert recorded._recordings
    walk(model, recorded, n_beams + 2)  # other shapes, same recordings
    branch = model.start(*sources())
    _, branch = recorded(words(B, 1)[:, 0], branch)
    one, two = (recorded(words(B, 1, seed=s)[:, 0], branch) for s in (1, 2))
    for s, (logits, state) in zip((1, 2), (one, two), strict=True):
        alike(logits, model.step(words(B, 1, seed=s)[:, 0], branch)[0])
        alike(recorded(words(B, 1)[:, 0], state)[0], model.step(words(B, 1)[:, 0], state)[0])


@pytest.mark.parametrize(
    "changes",
    [{"positions": "rotary"}, {"decoder_attention": Site(window=3)}, {"cross_attention": Site(top_k=2)}],
    ids=str,
)
@torch.no_grad()
def test_what_depends_on_where_it_stands_is_not_recorded(changes):
    model = small(**changes)
    recorded = RecordedStep(model, patience=0)
    walk(model, recorded, 2)
    assert not recorded._recordings


@torch.no_grad()
def test_nothing_is_recorded_before_it_pays():
    model = small()
    recorded = RecordedStep(model, patience=5)
    walk(model, recorded, 1, n_steps=6)  # the first has no past and does not count
    assert not recorded._recordings
    walk(model, recorded, 1, n_steps=2)
    assert len(recorded._recordings) == 1
