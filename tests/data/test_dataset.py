import random

import pytest

from translator.data.dataset import ParallelDataset


class Words:
    """A word is the number that it spells; sampling adds a random id in front."""

    pad_id, bos_id, eos_id = 0, 2, 3

    def encode(self, text):
        return [int(word) for word in text.split()]

    def encode_sampled(self, text, rng, strength):
        assert strength == 0.1
        return [rng.randrange(1000, 10**6), *self.encode(text)]


SOURCES = ["11 12 13", "", "14", "15 16 17 18", "19"]
TARGETS = ["21", "22", "  ", "23", "24 25 26"]


def test_pairs_come_back_as_their_pieces_and_lengths_count_eos():
    pairs = ParallelDataset(SOURCES, TARGETS, Words())
    assert [pairs.pair(i) for i in range(len(pairs))] == [
        ([11, 12, 13], [21]),
        ([15, 16, 17, 18], [23]),
        ([19], [24, 25, 26]),
    ]
    assert list(pairs.source_lengths) == [4, 5, 2]
    assert list(pairs.target_lengths) == [2, 2, 4]
    assert (pairs.blank, pairs.too_long) == (2, 0)


def test_pairs_over_the_length_limit_are_left_out_and_counted():
    pairs = ParallelDataset(SOURCES, TARGETS, Words(), max_length=3)
    assert [pairs.pair(i)[0] for i in range(len(pairs))] == [[11, 12, 13], [19]]
    assert (pairs.blank, pairs.too_long) == (2, 1)


def test_sides_of_different_number_are_not_paired():
    with pytest.raises(ValueError, match="shorter"):
        ParallelDataset(["1", "2"], ["1"], Words())


def sampled(seed=5):
    return ParallelDataset(SOURCES, TARGETS, Words(), sampling=0.1, seed=seed)


def test_sampled_pieces_depend_on_seed_epoch_and_pair_alone():
    pairs = sampled()
    forward = [pairs.pair(i, epoch=1) for i in range(3)]
    random.seed(0)
    assert [sampled().pair(i, epoch=1) for i in (2, 1, 0)] == forward[::-1]
    assert [pairs.pair(i, epoch=2) for i in range(3)] != forward
    assert [sampled(seed=6).pair(i, epoch=1) for i in range(3)] != forward
    drawn = [side[0] for pair in forward for side in pair]
    assert len(set(drawn)) == 6


def test_sampling_reads_the_texts_of_the_kept_pairs_and_leaves_lengths_as_they_are():
    pairs = sampled()
    assert [pairs.pair(i)[0][1:] for i in range(3)] == [[11, 12, 13], [15, 16, 17, 18], [19]]
    assert [pairs.pair(i)[1][1:] for i in range(3)] == [[21], [23], [24, 25, 26]]
    assert list(pairs.source_lengths) == [4, 5, 2]


def test_sampled_pieces_are_cut_to_the_length_limit():
    pairs = ParallelDataset(["11 12 13"], ["21"], Words(), max_length=3, sampling=0.1)
    source, target = pairs.pair(0)
    assert (len(source), len(target)) == (3, 2)
