import gzip
import logging
import random
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

import pytest
import torch

from translator.data.batching import Batch, TokenBudgetSampler, collate
from translator.errors import UserError

MULTI30K = Path(__file__).parents[3] / "shared" / "data" / "multi30k"
PAD, BOS, EOS = 0, 2, 3


def long_tailed(n, seed=0):
    """Lengths like those of sentences: log-normal sources, targets that follow them with noise."""
    rng = random.Random(seed)
    sources = [2 + int(rng.lognormvariate(2.5, 0.5)) for _ in range(n)]
    return sources, [max(2, round(length * rng.gauss(1.05, 0.2))) for length in sources]


def deal(sampler, epoch=0):
    sampler.epoch = epoch
    return list(sampler)


@contextmanager
def process(rank, world_size):
    """This process as one of several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.distributed.is_initialized", lambda: True)
        patch.setattr("torch.distributed.get_world_size", lambda: world_size)
        patch.setattr("torch.distributed.get_rank", lambda: rank)
        yield


def per_rank(sources, targets, max_tokens, world_size, epoch=0, **options):
    dealt = []
    for rank in range(world_size):
        with process(rank, world_size):
            sampler = TokenBudgetSampler(sources, targets, max_tokens, **options)
            dealt.append(deal(sampler, epoch))
            assert len(sampler) == len(dealt[-1])
    return dealt


def indices(batches):
    return sorted(index for batch in batches for index in batch)


def cost(batch, sources, targets):
    return len(batch) * max(max(sources[i], targets[i]) for i in batch)


# Collating


def test_batch_holds_bos_eos_and_padding_in_their_places():
    batch = collate([([11, 12, 13], [21]), ([14], [22, 23])], PAD, BOS, EOS)
    assert batch.src_ids.tolist() == [[11, 12, 13, EOS], [14, EOS, PAD, PAD]]
    assert batch.src_valid.tolist() == [[True] * 4, [True, True, False, False]]
    assert batch.tgt_in.tolist() == [[BOS, 21, PAD], [BOS, 22, 23]]
    assert batch.tgt_out.tolist() == [[21, EOS, PAD], [22, 23, EOS]]
    assert batch.tgt_valid.tolist() == [[True, True, False], [True, True, True]]
    assert (batch.n_tokens, batch.n_source_tokens) == (5, 6)
    assert {batch.src_ids.dtype, batch.tgt_in.dtype, batch.tgt_out.dtype} == {torch.int64}
    assert {batch.src_valid.dtype, batch.tgt_valid.dtype} == {torch.bool}


def test_a_piece_with_the_id_of_padding_stays_visible():
    batch = collate([([PAD, 11], [PAD])], PAD, BOS, EOS)
    assert batch.src_valid.all()
    assert batch.tgt_valid.all()


def test_batch_moves_to_a_device_whole():
    moved = collate([([11, 12], [21])], PAD, BOS, EOS).to("meta")
    assert isinstance(moved, Batch)
    assert [tensor.device.type for tensor in moved[:5]] == ["meta"] * 5
    assert (moved.n_tokens, moved.n_source_tokens) == (2, 3)


# Every pair once


@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("options", [{"max_tokens": 97}, {"max_tokens": 10**6}, {"max_tokens": 97, "max_sentences": 1}])
@pytest.mark.parametrize("n", [5, 101, 499])
def test_each_pair_is_used_once_an_epoch_by_one_process_in_as_many_batches(n, options, world_size):
    sources, targets = long_tailed(n)
    for epoch in range(3):
        dealt = per_rank(sources, targets, **options, world_size=world_size, epoch=epoch)
        assert indices(batch for batches in dealt for batch in batches) == list(range(n))
        assert len({len(batches) for batches in dealt}) == 1
        assert all(batch for batches in dealt for batch in batches)


def test_all_epochs_have_the_same_number_of_batches():
    sampler = TokenBudgetSampler(*long_tailed(1009), 211)
    assert {len(deal(sampler, epoch)) for epoch in range(50)} == {len(sampler)}


def test_no_batch_is_empty_wherever_the_borders_fall():
    sampler = TokenBudgetSampler([7] * 37, [5] * 37, 14)
    assert len(sampler) > 19  # so one border is drawn, in some epoch before the first pair
    assert all(all(deal(sampler, epoch)) for epoch in range(300))


def test_rank_and_world_are_those_of_torch_distributed_when_it_runs():
    sampler = TokenBudgetSampler(*long_tailed(101), 97)
    alone = deal(sampler)
    dealt = []
    for rank in range(2):
        with process(rank, 2):
            dealt.append(deal(sampler))
            assert len(dealt[-1]) == len(sampler)
    assert indices(dealt[0] + dealt[1]) == indices(alone) == list(range(101))


def test_fewer_pairs_than_processes_is_refused():
    sampler = TokenBudgetSampler([5, 5], [5, 5], 97)
    with process(0, 3), pytest.raises(UserError, match="2 training pairs cannot be shared by 3 processes"):
        len(sampler)


def test_as_many_pairs_as_processes_give_one_batch_each():
    assert [len(batches) for batches in per_rank([5, 6, 7], [5, 6, 7], 97, 3)] == [1, 1, 1]


# Order


def test_batches_depend_on_seed_and_epoch_alone():
    lengths = long_tailed(499)
    sampler = TokenBudgetSampler(*lengths, 211, seed=7)
    first, second = deal(sampler, 0), deal(sampler, 1)
    assert deal(sampler, 0) == first
    assert deal(TokenBudgetSampler(*lengths, 211, seed=7), 1) == second
    assert deal(TokenBudgetSampler(*lengths, 211, seed=8), 0) != first
    assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in second}


def test_long_and_short_batches_come_mixed():
    sources, targets = long_tailed(4001)
    longest = [max(targets[i] for i in batch) for batch in deal(TokenBudgetSampler(sources, targets, 211))]
    middle = len(longest) // 2
    assert mean(longest[:middle]) == pytest.approx(mean(longest[middle:]), rel=0.2)


def test_pairs_of_equal_lengths_change_places_from_epoch_to_epoch():
    sampler = TokenBudgetSampler([7] * 40, [7] * 40, 70)
    epochs = [{frozenset(batch) for batch in deal(sampler, epoch)} for epoch in range(2)]
    assert len(sampler) == 4  # too few for borders at random
    assert epochs[0] != epochs[1]


def test_borders_of_batches_move_from_epoch_to_epoch():
    # With all lengths distinct in sorted order there are no ties to shuffle: only the borders can differ.
    lengths = list(range(2, 1002))
    sampler = TokenBudgetSampler(lengths, lengths, 4001)
    epochs = [{frozenset(batch) for batch in deal(sampler, epoch)} for epoch in range(2)]
    assert epochs[0] != epochs[1]


# Budget


@pytest.mark.parametrize("max_tokens", [61, 211, 997])
def test_no_batch_is_over_the_budget_of_the_longer_side(max_tokens):
    sources, targets = long_tailed(499)
    sources[17], targets[17] = 3, 60  # padding of the source counts as well
    for epoch in range(5):
        batches = deal(TokenBudgetSampler(sources, targets, max_tokens), epoch)
        assert max(cost(batch, sources, targets) for batch in batches if len(batch) > 1) <= max_tokens


def test_budget_is_used_up_exactly():
    assert len(deal(TokenBudgetSampler([7] * 6, [5] * 6, 21))) == 2
    assert len(deal(TokenBudgetSampler([5] * 6, [7] * 6, 20))) == 3


def test_a_batch_has_no_more_than_max_sentences():
    sources, targets = long_tailed(101)
    batches = deal(TokenBudgetSampler(sources, targets, 10**6, max_sentences=13))
    assert max(len(batch) for batch in batches) <= 13
    assert len(batches) == 8


@pytest.mark.parametrize("place", [0, 50, 100])
def test_a_pair_over_the_budget_gets_its_own_batch_and_is_reported(place, caplog):
    sources, targets = long_tailed(101)
    sources[place] = 5003
    with caplog.at_level(logging.WARNING, "translator"):
        sampler = TokenBudgetSampler(sources, targets, 211)
    assert sampler.oversize == 1
    assert "1 pairs are longer than max_tokens=211" in caplog.text
    for epoch in range(3):
        batches = deal(sampler, epoch)
        assert [place] in batches
        assert indices(batches) == list(range(101))
        assert all(batches)


def test_a_corpus_of_one_pair_is_one_batch():
    for max_tokens in (1, 7, 97):
        sampler = TokenBudgetSampler([7], [5], max_tokens)
        assert deal(sampler) == sampler.sorted_batches() == [[0]]


def test_pairs_that_are_all_over_the_budget_are_still_shared_evenly():
    dealt = per_rank([50] * 3, [50] * 3, 7, 2)
    assert sorted(len(batch) for batches in dealt for batch in batches) == [1, 2]


@pytest.mark.parametrize("options", [{"max_tokens": 0}, {"max_tokens": 97, "max_sentences": 0}])
def test_a_budget_that_holds_nothing_is_refused(options):
    with pytest.raises(UserError, match="holds nothing"):
        TokenBudgetSampler([5], [5], **options)


def test_no_pairs_at_all_are_refused():
    with pytest.raises(UserError, match="no pair to batch"):
        TokenBudgetSampler([], [], 97)


# Padding


def test_padding_share_counts_both_sides():
    sampler = TokenBudgetSampler([2, 4], [6, 6], 97)
    assert len(sampler) == 1
    assert sampler.padding_share() == pytest.approx(2 / 20)


@pytest.mark.parametrize("max_tokens", [1024, 4096])
def test_padding_is_small_on_long_tailed_lengths(max_tokens):
    sampler = TokenBudgetSampler(*long_tailed(20_011), max_tokens)
    assert sampler.padding_share() < 0.08


@pytest.mark.skipif(not MULTI30K.exists(), reason="Multi30k is not beside the repository")
def test_padding_is_small_on_multi30k():
    def lengths(language):
        with gzip.open(MULTI30K / f"train.{language}.gz", "rt", encoding="utf-8", newline="\n") as lines:
            return [len(line.split()) + 1 for line in lines]

    assert TokenBudgetSampler(lengths("en"), lengths("de"), 4096).padding_share() < 0.06


def test_validation_batches_are_the_same_each_time_and_as_few_as_can_be():
    sampler = TokenBudgetSampler([7] * 12, [5] * 12, 21)
    batches = sampler.sorted_batches()
    sampler.epoch = 1
    assert sampler.sorted_batches() == batches
    assert indices(batches) == list(range(12))
    assert len(batches) == 4


def test_validation_batches_are_shared_evenly_where_pairs_suffice():
    def shared(n, world_size):
        with process(0, world_size):
            return len(TokenBudgetSampler([7] * n, [5] * n, 70).sorted_batches())

    assert [shared(7, 1), shared(7, 2), shared(7, 3), shared(23, 2)] == [1, 2, 3, 4]
    assert shared(2, 3) == 1
