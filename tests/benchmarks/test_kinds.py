"""Kinds of attention side by side: who is there, what is held, and that ratios are of the same round."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks import kinds as module
from benchmarks.growth import decode
from benchmarks.kinds import kinds, kinds_rows
from tests.benchmarks.test_growth import BASE

JOB = replace(BASE, model={**BASE.model, "d_model": 16, "n_heads": 8}, lengths=(6,), rounds=2)


def test_bytes_are_those_of_the_key_value_heads_and_of_the_window() -> None:
    rows = kinds_rows(list(kinds(JOB, [2, 1], [4])))
    assert [row["attention"] for row in rows] == ["mha", "gqa 2", "mqa", "window 4"]
    own, source = rows[0]["state_bytes"], rows[0]["source_bytes"]
    assert own == 2 * 2 * 16 * 4 * 6 * JOB.batch  # keys and values, layers, d_model, bytes, tokens
    assert [row["state_bytes"] for row in rows] == [own, own / 4, own / 8, own / 2]  # the window keeps three of six
    assert [row["source_bytes"] for row in rows] == [source, source / 4, source / 8, source]
    assert rows[0]["ratio"] == rows[0]["ratio_min"] == rows[0]["ratio_max"] == 1.0
    assert len({row["parameters"] for row in rows}) == 3  # a window has no parameters


def test_ratios_are_of_the_same_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([10.0, 5.0, 40.0, 10.0, 10.0, 4.0])  # three rounds of two kinds

    def timed(*arguments: Any, longest: int) -> Any:
        watch = decode(*arguments, longest=longest)
        if longest == 6:
            watch.calls = [100.0, *[0.0] * 5, 100.0 + next(seconds)]
        return watch

    monkeypatch.setattr(module, "decode", timed)
    mha, mqa = kinds_rows(list(kinds(replace(JOB, rounds=3), [1], [])))
    assert (mqa["ratio_min"], mqa["ratio"], mqa["ratio_max"]) == (2.0, 2.5, 4.0)
    assert (mha["tokens_per_second"], mqa["tokens_per_second"]) == (JOB.batch * 6 / 10, JOB.batch * 6 / 5)
