"""Models whose attention computes less: read in chunks, reordered, padded, they give the logits of the whole.

Sentences are long enough for the ways of computing that short ones never reach.
"""

import random

import pytest
import torch

from tests.model.small import SHARING, alike, small, words
from translator.attention import patterns
from translator.attention.capture import capture
from translator.model.config import Site
from translator.model.transformer import Transformer

LENGTHS, T = (97, 83, 5), 89
PATTERNS = [{"window": 7}, {"window": 70}, {"stride": 5}, {"top_k": 2}, {"top_k": 7}]
_NAMES = [f"{name} {value}" for pattern in PATTERNS for name, value in pattern.items()]


@pytest.fixture(autouse=True)
def _copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are copied for a query where a tenth of them is kept."""
    monkeypatch.setattr(patterns, "_COPIES", 10)


def model(sharing: str, pattern: dict[str, int], positions: str = "sinusoidal") -> Transformer:
    site = Site(SHARING[sharing], **pattern)
    cross = site if "top_k" in pattern else Site(SHARING[sharing])
    return small(positions=positions, encoder_attention=site, decoder_attention=site, cross_attention=cross)


def sources() -> tuple[torch.Tensor, torch.Tensor]:
    valid = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return words(*valid.shape).masked_fill(~valid, 0), valid


@pytest.mark.parametrize("pattern", PATTERNS, ids=_NAMES)
@pytest.mark.parametrize("sharing", SHARING)
def test_any_chunks_give_the_logits_of_the_whole_matrix(sharing, pattern):
    network, tgt_in = model(sharing, pattern, "rotary" if sharing == "GQA" else "sinusoidal"), words(3, T, seed=3)
    with capture(network):  # listening computes whole matrices under masks
        whole = network(*sources(), tgt_in)
    alike(network(*sources(), tgt_in), whole)
    with torch.no_grad():
        start = network.start(*sources())
        for chunk in (1, 29, T):
            state, read = start, 0
            for ids in tgt_in.split(chunk, dim=1):
                hidden, state = network.extend(ids, state)
                alike(network.logits(hidden), whole[:, read : read + ids.shape[1]])
                read += ids.shape[1]
                for kv in state.self_kv:
                    assert kv.end == read
                    assert kv.k.shape[2] == min(read, pattern.get("window", T + 1) - 1)


@pytest.mark.parametrize("pattern", PATTERNS, ids=_NAMES)
@torch.no_grad()
def test_neighbours_and_padding_change_nothing(pattern):
    network, tgt_in = model("MQA", pattern), words(3, T, seed=3)
    src_ids, src_valid = sources()
    together = network(src_ids, src_valid, tgt_in)
    for i, length in enumerate(LENGTHS):
        rows = slice(i, i + 1)
        alike(together[rows], network(src_ids[rows, :length], src_valid[rows, :length], tgt_in[rows]))


@pytest.mark.parametrize("pattern", PATTERNS, ids=_NAMES)
@torch.no_grad()
def test_beams_go_on_with_their_own_prefixes(pattern):
    network, rng = model("GQA", pattern), random.Random(5)
    src_ids, src_valid = (tensor[1:2] for tensor in sources())
    read = words(1, 80, seed=4)
    _, state = network.extend(read, network.start(src_ids, src_valid))
    memory = network.encode(src_ids, src_valid)
    for n_next in (3, 3, 2, 4):
        rows = torch.tensor([[rng.randrange(len(read)) for _ in range(n_next)]])
        state, new = state.select(rows), words(n_next, 1, seed=n_next)
        read = torch.cat((read[rows[0]], new), dim=1)
        hidden, state = network.extend(new, state)
        scratch = network.decode(read, memory.expand(n_next, -1, -1), src_valid.expand(n_next, -1))
        alike(hidden[:, -1], scratch[:, -1])


@pytest.mark.parametrize("pattern", PATTERNS, ids=_NAMES)
def test_a_changed_target_token_leaves_earlier_logits_bit_equal(pattern):
    network, tgt_in = model("MHA", pattern), words(3, T, seed=3)
    changed = tgt_in.clone()
    changed[:, 40] = 4 + (changed[:, 40] - 3) % 49
    before, after = network(*sources(), tgt_in), network(*sources(), changed)
    assert torch.equal(before[:, :40], after[:, :40])
    assert not torch.equal(before[:, 40], after[:, 40])
