"""Without a cache the same comes out, step by step and search by search."""

import pytest
import torch

from benchmarks.uncached import UncachedTransformer
from tests import toy
from tests.conftest import toy_model
from translator.data.tokenizer import Tokenizer
from translator.decoding.beam import beam_search
from translator.decoding.interface import SearchRules
from translator.inference.translator import Translator

SENTENCES = toy.sentences(7, seed=71)


def test_every_step_gives_the_same_logits(toy_tokenizer: Tokenizer) -> None:
    model = toy_model(toy_tokenizer).eval()
    twin = UncachedTransformer.of(model)
    source = torch.tensor([[7, 8, 9, 3], [10, 3, 0, 0], [11, 12, 3, 0]])
    valid = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]]).bool()
    moves = [None, [[0, 0], [1, 1], [2, 2]], [[1, 0], [3, 3], [4, 5]], [[0, 1], [5, 4]], [[2, 2]]]
    with torch.no_grad():
        cached, prefixes = model.start(source, valid), twin.start(source, valid)
        last = torch.tensor([2, 2, 2])
        for number, move in enumerate(moves):
            if move is not None:
                rows = torch.tensor(move)
                cached, prefixes = cached.select(rows), prefixes.select(rows)
                last = torch.arange(rows.numel()) + 5 + number
            expected, cached = model.step(last, cached)
            found, prefixes = twin.step(last, prefixes)
            torch.testing.assert_close(found, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("beam", [1, 3])
def test_searches_find_the_same(flat_translator: Translator, beam: int) -> None:
    twin = Translator(UncachedTransformer.of(flat_translator.model), flat_translator.tokenizer)
    ours, theirs = (t.translate(SENTENCES, beam_size=beam, max_length=7) for t in (flat_translator, twin))
    assert [t.text for t in theirs] == [t.text for t in ours]
    assert [t.score for t in theirs] == pytest.approx([t.score for t in ours], abs=1e-4)


def test_nothing_is_kept_between_steps_but_ids(toy_tokenizer: Tokenizer) -> None:
    twin = UncachedTransformer.of(toy_model(toy_tokenizer).eval())
    source = torch.tensor([[7, 8, 3]])
    state = twin.start(source, torch.ones_like(source).bool())
    found = beam_search(twin.step, state, torch.tensor([4]), SearchRules(2, 3, banned=(3,)), beam_size=2)
    assert len(found[0][0].ids) == 4
    assert state.ids.shape == (1, 0)
