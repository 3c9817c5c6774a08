"""Measurements of attention: each alone in a process, and exponents that are those of what was measured."""

import math

import pytest

from benchmarks.attention import AttentionJob, attention_rows
from benchmarks.figures import exponent
from translator.errors import UserError


def test_an_exponent_is_the_slope_of_the_logarithms():
    lengths = [128, 256, 512, 1024]
    assert exponent(lengths, [3e-9 * n**2 for n in lengths]) == pytest.approx(2)
    assert exponent(lengths, [7 * n**1.5 for n in lengths]) == pytest.approx(1.5)
    assert exponent(lengths, [0, 5, 5, 5]) == pytest.approx(0)
    assert math.isnan(exponent(lengths, [0, 0, 0, 5]))


def test_a_kind_or_kernel_that_is_unknown_is_refused():
    with pytest.raises(UserError, match="kind must be one of dense, window, strided, topk, not 'wide'"):
        next(attention_rows(AttentionJob(), [128], ["wide"]))
    with pytest.raises(UserError, match="kernel must be one of fused, explicit, not 'flash'"):
        next(attention_rows(AttentionJob(), [128], ["dense"], ["flash"]))
    with pytest.raises(UserError, match="window must be at least 1, not 0"):
        next(attention_rows(AttentionJob(window=0), [128], ["window"]))


def test_a_row_tells_what_was_measured():
    row = next(attention_rows(AttentionJob(n_heads=2, d_model=16, rounds=1), [1024], ["dense"], ["explicit"]))
    assert (row["rule"], row["kernel"], row["passes"], row["length"]) == ("dense", "explicit", "forward", 1024)
    assert row["seconds"] > 0
    matrix = 2 * 1024 * 1024 * 4  # of the weights, of which the kernel holds a few at a time
    assert matrix < row["peak_bytes"] < 12 * matrix
