"""Cost by length: the lengths are reached, and what the state holds is counted to the byte."""

from typing import Any

import pytest
import torch

from benchmarks.growth import GrowthJob, Watch, build, decode, growth_rows, variants

SIZES = {"d_model": 12, "n_heads": 3, "n_encoder_layers": 1, "n_decoder_layers": 2, "d_ff": 5}
BASE = GrowthJob("toy", SIZES, lengths=(3, 8), vocab_size=23, batch=2, source_length=5, device="cpu", rounds=3)


def test_one_thing_changes_at_a_time() -> None:
    found = list(variants(BASE, [2, 7], [1, 4], [3, 1]))
    assert [(job.cache, job.batch, job.beam, job.kv_heads) for job in found] == [
        (True, 2, 1, None), (False, 2, 1, None), (True, 7, 1, None), (True, 2, 4, None), (True, 2, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(("beam", "kv_heads"), [(1, None), (3, None), (1, 1)])
def test_a_cache_holds_keys_and_values_of_every_token(beam: int, kv_heads: int | None) -> None:
    job = GrowthJob(**{**BASE.__dict__, "beam": beam, "kv_heads": kv_heads})
    rows = growth_rows(job)
    assert [row["length"] for row in rows] == [3, 8]
    for row in rows:
        token = 2 * 2 * (kv_heads or 3) * 4 * 4  # keys and values, layers, heads, their size, bytes
        assert row["state_bytes_per_token"] == token
        assert row["state_bytes"] == token * 2 * beam * row["length"]
        assert row["source_bytes"] == token * 2 * 5
        assert row["kv_heads"] == (kv_heads or 3)
        assert row["tokens_per_second"] == pytest.approx(2e3 / row["ms_per_token"])
        assert row["ms_per_token_min"] <= row["ms_per_token"] <= row["ms_per_token_max"]


def test_without_a_cache_only_ids_grow() -> None:
    for row in growth_rows(GrowthJob(**{**BASE.__dict__, "cache": False})):
        assert row["state_bytes"] == 2 * row["length"] * 8
        assert row["source_bytes"] == 2 * 5 * 12 * 4


@pytest.mark.parametrize("beam", [1, 3])
def test_outputs_reach_their_length(beam: int) -> None:
    job = GrowthJob(**{**BASE.__dict__, "beam": beam})
    watch = decode(build(job), job, torch.device("cpu"), longest=8)
    assert len(watch.calls) == 9
    assert sorted(watch.held) == [3, 8]


def test_time_at_a_length_is_the_mean_of_its_last_eighth() -> None:
    watch: Watch[Any] = Watch(lambda last, state: (last, state), [], torch.device("cpu"))
    watch.calls = [float(i * i) for i in range(18)]
    assert watch.seconds_at(16) == (16 * 16 - 14 * 14) / 2
    assert watch.seconds_at(5) == 25 - 16
