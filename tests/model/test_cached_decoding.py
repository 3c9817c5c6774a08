"""Reading a target piece by piece, with a cache, is reading it at once: logits are compared at every step."""

import random

import pytest
import torch
from torch import Tensor

from tests.model.small import POSITIONS, SHARING, SOURCES, B, T, alike, sites, small, sources, words
from translator.model.transformer import Transformer

WINDOWS = [None, 1, 3, 11]


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("sharing", SHARING)
def test_any_chunks_give_the_logits_of_the_whole(sharing, window, positions):
    model = small(positions=positions, **sites(sharing, window))
    src_ids, src_valid = sources()
    tgt_in = words(B, T, seed=3)
    whole = model(src_ids, src_valid, tgt_in)  # gradients choose the explicit kernel, steps the fused one
    with torch.no_grad():
        start = model.start(src_ids, src_valid)
        for chunk in (1, 2, 3, T):
            state, read = start, 0
            for ids in tgt_in.split(chunk, dim=1):
                hidden, state = model.extend(ids, state)
                alike(model.logits(hidden), whole[:, read : read + ids.shape[1]])
                read += ids.shape[1]
                assert state.length == read
                for kv in state.self_kv:
                    assert kv.end == read
                    assert window is None or kv.k.shape[2] < window


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_step_tells_the_logits_of_the_next_token(positions):
    model = small(positions=positions)
    src_ids, src_valid = sources()
    tgt_in = words(B, T, seed=3)
    with torch.no_grad():
        expected = model(src_ids, src_valid, tgt_in)
        state = model.start(src_ids, src_valid)
        for t in range(T):
            logits, state = model.step(tgt_in[:, t], state)
            alike(logits, expected[:, t])


def alone(model: Transformer) -> list[Tensor]:
    """The memory (1, S_i, D) of every sentence without padding or neighbours."""
    src_ids, _ = sources()
    sentences = [src_ids[i : i + 1, :length] for i, length in enumerate(SOURCES)]
    return [model.encode(ids, torch.ones_like(ids, dtype=torch.bool)) for ids in sentences]


def from_scratch(model: Transformer, memory: Tensor, *prefixes: list[int]) -> Tensor:
    """The logits after rows' own prefixes, without a cache."""
    memory = memory.expand(len(prefixes), -1, -1)
    valid = torch.ones(memory.shape[:2], dtype=torch.bool)
    return model.logits(model.decode(torch.tensor(prefixes), memory, valid)[:, -1])


def choose(rng: random.Random, n_sentences: int, n_rows: int, n_next: int, drop: int | None) -> list[list[int]]:
    """Rows of a beam search step: any of a sentence's rows, repeated and reordered; one sentence dropped."""
    kept = [i for i in range(n_sentences) if i != drop]
    return [[i * n_rows + rng.randrange(n_rows) for _ in range(n_next)] for i in kept]


def lines(rows: list[tuple[int, list[int]]], n_rows: int) -> list[tuple]:
    """A sentence and the prefixes of its rows, for every sentence left."""
    starts = range(0, len(rows), n_rows)
    return [(rows[i][0], *(prefix for _, prefix in rows[i : i + n_rows])) for i in starts]


# Rows a sentence from now on, and which sentence (of those left) has finished.
PLAN = [(3, None), (3, None), (2, 1), (2, None), (5, None), (1, 0), (2, None)]


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("sharing", SHARING)
@torch.no_grad()
def test_every_row_goes_on_with_its_own_prefix_and_sentence(sharing, window, positions):
    """Beams are opened, swapped, narrowed and widened, and sentences leave."""
    model, rng = small(positions=positions, **sites(sharing, window)), random.Random(5)
    state, memories = model.start(*sources()), alone(model)
    rows = [(sentence, [2]) for sentence in range(B)]  # of every row: its sentence and what it has read
    n_rows = 1
    for n_next, drop in PLAN:
        hidden, state = model.extend(torch.tensor([prefix[-1:] for _, prefix in rows]), state)
        logits = model.logits(hidden[:, 0])
        alike(logits, torch.cat([from_scratch(model, memories[i], *read) for i, *read in lines(rows, n_rows)]))
        chosen = choose(rng, len(rows) // n_rows, n_rows, n_next, drop)
        state = state.select(torch.tensor(chosen))
        rows = [(rows[old][0], [*rows[old][1], rng.randrange(4, 53)]) for line in chosen for old in line]
        n_rows = n_next
    assert len({sentence for sentence, _ in rows}) == 1


@torch.no_grad()
def test_beams_may_open_before_the_first_step():
    model = small()
    state = model.start(*sources()).select(torch.arange(B)[:, None].expand(B, 2))
    last = words(2 * B, seed=7)
    logits, state = model.extend(last[:, None], state)
    memories = alone(model)
    expected = [from_scratch(model, memories[row // 2], [int(last[row])]) for row in range(2 * B)]
    alike(model.logits(logits[:, 0]), torch.cat(expected))
    left = state.select(torch.tensor([[1, 0], [5, 5]]))
    assert left.src_valid.sum(1).tolist() == [SOURCES[0], SOURCES[2]]
    assert [kv.k.shape[0] for kv in (*left.self_kv, *left.cross_kv)] == [4, 4, 2, 2]


@torch.no_grad()
def test_sentences_may_leave_before_the_first_step_and_all_may_leave():
    model = small()
    state = model.start(*sources()).select(torch.tensor([[2]]))
    hidden, state = model.extend(torch.tensor([[9]]), state)
    alike(model.logits(hidden[0]), from_scratch(model, alone(model)[2], [9]))
    empty = state.select(torch.zeros(0, 3, dtype=torch.long))
    assert empty.src_valid.shape[0] == empty.self_kv[0].k.shape[0] == empty.cross_kv[0].k.shape[0] == 0


def test_the_memory_is_held_once_a_sentence():
    model = small()
    state = model.start(*sources())
    wide = state.select(torch.arange(B)[:, None].expand(B, 5))
    assert all(a.k is b.k for a, b in zip(state.cross_kv, wide.cross_kv, strict=True))
    assert wide.src_valid is state.src_valid
