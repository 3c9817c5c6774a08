"""A row of translating: what was asked for, what came out, real tokens."""

from pathlib import Path

import pytest
from torch import Tensor

from benchmarks.decoding import DecodeJob, by_length, decode_row, digest, source_padding
from benchmarks.uncached import Prefixes, UncachedTransformer
from tests import toy
from translator.inference.translator import Translator

LINES = tuple(toy.sentences(7, seed=72))


def test_padding_of_the_source_by_hand() -> None:
    assert source_padding([[5, 3], [2]]) == pytest.approx(1 - 10 / 12)
    assert source_padding([[4, 4]]) == 0.0


def test_the_longest_goes_first_and_its_end_counts(flat_translator: Translator) -> None:
    order, lengths = by_length(LINES, flat_translator.tokenizer)
    assert lengths == [len(flat_translator.tokenizer.encode(line)) + 1 for line in LINES]
    assert sorted(order) == list(range(7))
    assert [lengths[i] for i in order] == sorted(lengths, reverse=True)


def test_a_row_is_of_what_the_translator_writes(flat_bundle: Path, flat_translator: Translator) -> None:
    expected = [flat_translator.translate([line], beam_size=2)[0] for line in LINES]
    rows = [
        decode_row(DecodeJob(str(flat_bundle), LINES, beam=2, batch=batch, cache=cache, device="cpu", rounds=1))
        for batch, cache in ((3, True), (3, False))
    ]
    for row, cache in zip(rows, (True, False), strict=True):
        assert (row["kind"], row["beam"], row["batch"], row["cache"], row["sentences"]) == ("decode", 2, 3, cache, 7)
        assert row["outputs"] == digest([t.text for t in expected])
        assert row["output_tokens"] == sum(len(t.tokens) + t.finished for t in expected)
        assert row["source_tokens"] == sum(by_length(LINES, flat_translator.tokenizer)[1])
        assert row["sentences_per_second"] == pytest.approx(7 / row["seconds"])
        assert row["tokens_per_second_min"] == pytest.approx(row["output_tokens"] / row["seconds_max"])
        assert row["parameters"] == sum(p.numel() for p in flat_translator.model.parameters())
        assert 0 < row["padding"] < 1


@pytest.mark.parametrize("cache", [True, False])
def test_without_a_cache_every_step_reads_everything(
    flat_bundle: Path, monkeypatch: pytest.MonkeyPatch, cache: bool
) -> None:
    widths = []
    step = UncachedTransformer.step

    def counted(self: UncachedTransformer, last: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
        widths.append(state.ids.shape[1])
        return step(self, last, state)

    monkeypatch.setattr(UncachedTransformer, "step", counted)
    decode_row(DecodeJob(str(flat_bundle), LINES, beam=2, batch=7, cache=cache, device="cpu", rounds=1))
    assert (max(widths, default=0) > 2) is not cache


def test_a_digest_tells_texts_and_their_order_apart() -> None:
    assert digest(["a", "b"]) == digest(["a", "b"])
    assert len({digest(["a", "b"]), digest(["b", "a"]), digest(["a b"])}) == 3
