"""Grouping by length."""

import random

import torch

from translator.data.padding import length_batches, pad


def test_every_index_appears_once_and_the_budget_holds() -> None:
    rng = random.Random(3)
    lengths = [rng.randint(1, 97) for _ in range(211)]

    batches = length_batches(lengths, 1000)

    assert sorted(index for batch in batches for index in batch) == list(range(211))
    assert all(len(batch) * max(lengths[i] for i in batch) <= 1000 for batch in batches)
    assert len(batches) <= 1.3 * sum(lengths) / 1000


def test_what_exceeds_the_budget_goes_alone_and_pads_nobody() -> None:
    assert length_batches([3, 1000, 2], 10) == [[1], [0, 2]]
    assert length_batches([], 10) == []


def test_padding_stands_on_the_right_and_is_not_valid() -> None:
    ids, valid = pad([[5, 7, 3], [3]], 0, torch.device("cpu"))

    assert ids.tolist() == [[5, 7, 3], [3, 0, 0]]
    assert valid.tolist() == [[True, True, True], [True, False, False]]
