import itertools
import math

import pytest
import torch

from tests.decoding.models import BOS, EOS, NEVER, UNK, Model, chain, limits, random_model, rules
from translator.decoding.beam import beam_search
from translator.decoding.greedy import greedy_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import SearchRules
from translator.errors import UserError

ALPHAS = [-1.0, 0.0, 0.6, 1.0, 2.0]


def search(model: Model, sentences, max_lengths, **options) -> list[list[Hypothesis]]:
    given = rules(options)
    return beam_search(model.step, model.start(sentences), limits(*max_lengths), given, **options)


def alike(found: list[Hypothesis], expected: list[tuple[float, tuple[int, ...], bool]]) -> None:
    """Same outputs in the same order; expected: (score, ids, finished)."""
    assert [(h.ids, h.finished) for h in found] == [(ids, finished) for _, ids, finished in expected]
    assert [h.score for h in found] == pytest.approx([score for score, _, _ in expected], abs=1e-5)


def every_output(model: Model, sentence: int, limit: int, alpha: float):
    words = [token for token in range(7) if token not in {0, BOS, EOS}]
    for length in range(limit + 1):
        finished = length < limit
        for ids in itertools.product(words, repeat=length):
            score = model.forced(sentence, ids, finished=finished) / (length + finished) ** alpha
            yield score, ids, finished


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_beam_as_wide_as_the_space_finds_what_trying_everything_finds(alpha):
    model, lengths = random_model(1), [4, 1, 3]
    found = search(model, range(3), lengths, beam_size=4**3 * 5, n_best=29, length_penalty=alpha)
    for sentence, limit in enumerate(lengths):
        ranked = sorted(every_output(model, sentence, limit, alpha), reverse=True)
        alike(found[sentence], ranked[:29])
    assert [len(entries) for entries in found] == [29, 5, 29]


def reference(model: Model, sentence: int, limit: int, size: int, alpha: float):
    """The documented search with plain lists, one sentence alone, that never stops before the limit."""
    live, kept = [(0.0, ())], []
    for length in range(1, limit + 1):
        grown = []
        for total, ids in live:
            log_probs = model.next_token(sentence, ids).tolist()
            grown += [(total + p, (*ids, token)) for token, p in enumerate(log_probs) if p > NEVER]
        grown.sort(reverse=True)
        ended = [(total, ids) for total, ids in grown[:size] if ids[-1] == EOS]
        kept += [(total / length**alpha, ids[:-1], True) for total, ids in ended]
        live = [(total, ids) for total, ids in grown[: 2 * size] if ids[-1] != EOS][:size]
    kept = sorted(kept, reverse=True)[:size]
    cut = [(total / limit**alpha, ids, False) for total, ids in live]
    return sorted(kept + cut[: size - len(kept)], reverse=True)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_stopping_early_and_batching_lose_nothing(alpha, size, end):
    model = random_model(2, end=end, holes=0.2, spread=2.0)
    lengths = [9, 2, 7, 1, 11, 8, 3]
    expected = [reference(model, i, limit, size, alpha) for i, limit in enumerate(lengths)]
    for n_best in range(1, size + 1):
        found = search(model, range(7), lengths, beam_size=size, n_best=n_best, length_penalty=alpha)
        for entries, ranked in zip(found, expected, strict=True):
            alike(entries, ranked[:n_best])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_beam_of_one_is_greedy_search(alpha):
    model, lengths = random_model(3, end=0.5), [1, 2, 3, 5, 7, 11, 13]
    greedy = greedy_search(model.step, model.start(range(7)), limits(*lengths), SearchRules(BOS, EOS, alpha))
    assert search(model, range(7), lengths, beam_size=1, length_penalty=alpha) == greedy


def test_a_chain_on_which_the_best_first_word_leads_astray():
    model = chain(
        {BOS: {4: 0.6, 5: 0.4}, 4: {6: 0.5, EOS: 0.4, 4: 0.1}, 5: {EOS: 0.9, 6: 0.1}, 6: {EOS: 1.0}},
        vocabulary=7,
    )
    best = search(model, [0], [9], beam_size=2, n_best=2, length_penalty=0.0)[0]
    alike(best, [(math.log(0.36), (5,), True), (math.log(0.3), (4, 6), True)])


def test_a_longer_output_may_still_win_after_the_first_one_has_ended():
    # (4,) ends first, at 0.7. Per token, the slow but sure (5, 6, 7, 7) is better.
    model = chain(
        {BOS: {4: 0.7, 5: 0.3}, 4: {EOS: 1.0}, 5: {6: 1.0}, 6: {7: 1.0}, 7: {7: 0.95, EOS: 0.05}},
        vocabulary=8,
    )
    assert search(model, [0], [5], beam_size=2, length_penalty=0.0)[0][0].ids == (4,)
    found = search(model, [0], [29], beam_size=2, length_penalty=2.0)[0]
    assert len(found[0].ids) > 1


def test_the_search_stops_once_nothing_better_can_come():
    model = chain({BOS: {4: 0.9, 5: 0.1}, 4: {EOS: 0.9, 5: 0.1}, 5: {5: 0.5, EOS: 0.5}}, vocabulary=6)
    search(model, [0], [97], beam_size=2, length_penalty=0.0)
    assert len(model.steps) == 2
    model.steps.clear()
    search(model, [0], [97], beam_size=2, length_penalty=1.0)
    assert 2 < len(model.steps) < 97


def test_outputs_do_not_get_shorter_as_the_length_penalty_rises():
    model, rising = random_model(4, end=1.0), [-2.0, -1.0, 0.0, 0.6, 1.0, 2.0, 4.0]
    runs = [search(model, range(13), [11] * 13, beam_size=3, length_penalty=alpha) for alpha in rising]
    lengths = [[len(entries[0].ids) + entries[0].finished for entries in run] for run in runs]
    assert lengths[0] != lengths[-1]
    for shorter, longer in itertools.pairwise(lengths):
        assert all(a <= b for a, b in zip(shorter, longer, strict=True))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_scores_are_those_of_the_output_read_again_from_the_start(alpha):
    model = random_model(5)
    found = search(model, range(7), [3, 5, 7, 9, 11, 13, 2], beam_size=5, n_best=5, length_penalty=alpha)
    assert {h.finished for entries in found for h in entries} == {True, False}
    for sentence, entries in enumerate(found):
        for h in entries:
            assert EOS not in h.ids
            assert h.log_prob == pytest.approx(model.forced(sentence, h.ids, finished=h.finished), abs=1e-5)
            assert h.score == pytest.approx(h.log_prob / (len(h.ids) + h.finished) ** alpha)


def test_nbest_lists_are_full_sorted_and_without_repeats_and_begin_alike():
    model = random_model(6, end=1.0)
    lists = [search(model, range(5), [7] * 5, beam_size=5, n_best=n) for n in range(1, 6)]
    for sentence in range(5):
        longest = lists[-1][sentence]
        assert len({(h.ids, h.finished) for h in longest}) == 5
        assert [h.score for h in longest] == sorted((h.score for h in longest), reverse=True)
        assert all(lists[n - 1][sentence] == longest[:n] for n in range(1, 6))


@pytest.mark.parametrize("limit", [1, 3])
def test_at_the_limit_the_best_unfinished_outputs_are_returned(limit):
    model = random_model(7, end=-50.0)
    for entries in search(model, range(3), [limit] * 3, beam_size=4, n_best=4):
        assert [len(h.ids) for h in entries] == [limit] * 4
        assert not any(h.finished for h in entries)
        assert [h.score for h in entries] == sorted((h.score for h in entries), reverse=True)


def test_a_cut_output_takes_no_place_from_a_finished_one():
    # At the limit (5, 5, 5) is by far the most probable, but two outputs are whole.
    model = chain({BOS: {5: 0.9, EOS: 0.06, 4: 0.04}, 4: {EOS: 1.0}, 5: {5: 0.96, EOS: 0.04}}, vocabulary=6)
    found = search(model, [0], [3], beam_size=2, n_best=2, length_penalty=0.0)[0]
    assert [(h.ids, h.finished) for h in found] == [((), True), ((4,), True)]
    wider = search(model, [0], [3], beam_size=5, n_best=5, length_penalty=0.0)[0]
    assert wider[0] == Hypothesis((5, 5, 5), wider[0].log_prob, wider[0].score, finished=False)


def test_with_one_token_to_go_a_beam_as_wide_as_the_vocabulary_holds_all_probability():
    found = search(random_model(8, vocabulary=67), range(2), [1, 1], beam_size=67, n_best=67, length_penalty=0.0)
    for entries in found:
        assert len(entries) == 65  # all but padding and beginning, which are impossible
        assert sum(math.exp(h.score) for h in entries) == pytest.approx(1.0, abs=1e-5)


def test_results_do_not_depend_on_the_neighbours():
    lengths = {sentence: 2 + sentence * 3 % 11 for sentence in range(13)}
    options = {"beam_size": 4, "n_best": 4}
    together = search(random_model(9), range(13), lengths.values(), **options)
    for group in ([4], [12], [0, 1, 2], [3, 5, 8, 11]):
        found = search(random_model(9), group, [lengths[i] for i in group], **options)
        assert found == [together[i] for i in group]


def test_results_do_not_depend_on_the_order():
    lengths, options = [3, 5, 7, 9, 4, 6], {"beam_size": 3, "n_best": 3}
    model = random_model(10)
    order = [4, 2, 5, 0, 3, 1]
    shuffled = Model(lambda sentence, ids: model.next_token(order[sentence], ids))
    found = search(shuffled, range(6), [lengths[i] for i in order], **options)
    straight = search(model, range(6), lengths, **options)
    assert found == [straight[i] for i in order]


def test_sentences_that_are_done_leave_the_batch_at_once():
    model = random_model(11, end=-50.0)
    search(model, range(3), [2, 5, 3], beam_size=3)
    assert model.steps == [3, 9, 6, 3, 3]


def test_impossible_tokens_are_never_produced_and_no_score_is_nan():
    model = random_model(12, holes=0.7)
    for entries in search(model, range(11), [6] * 11, beam_size=5, n_best=5):
        assert entries
        for h in entries:
            assert math.isfinite(h.score)
            assert not {0, BOS, EOS} & set(h.ids)


def test_where_nothing_is_possible_the_output_is_cut():
    model = chain({BOS: {4: 0.5, 5: 0.5}, 4: {5: 1.0}}, vocabulary=6)
    (entries,) = search(model, [0], [9], beam_size=3, n_best=3, length_penalty=0.0)
    assert entries == [Hypothesis((4, 5), entries[0].log_prob, entries[0].score, finished=False)]
    assert entries[0].log_prob == pytest.approx(math.log(0.5))


def test_banned_tokens_are_never_produced():
    model = random_model(13, end=-1.0)
    allowed = search(model, range(5), [6] * 5, beam_size=4, n_best=4)
    assert any(UNK in h.ids for entries in allowed for h in entries)
    found = search(model, range(5), [6] * 5, beam_size=4, n_best=4, banned=(UNK,))
    for sentence, entries in enumerate(found):
        for h in entries:
            assert UNK not in h.ids
            assert h.log_prob == pytest.approx(model.forced(sentence, h.ids, finished=h.finished), abs=1e-5)


def test_no_ngram_is_repeated_where_that_is_asked_for():
    def repeats(found):
        pairs = [list(itertools.pairwise(h.ids)) for entries in found for h in entries]
        return any(len(set(of_one)) < len(of_one) for of_one in pairs)

    model = random_model(14, end=-2.0)
    assert repeats(search(model, range(5), [11] * 5, beam_size=3, n_best=3))
    assert not repeats(search(model, range(5), [11] * 5, beam_size=3, n_best=3, no_repeat_ngram=2))


@pytest.mark.parametrize(("n_best", "beam_size"), [(5, 3), (0, 3), (1, 0)])
def test_more_hypotheses_than_the_beam_holds_are_refused(n_best, beam_size):
    with pytest.raises(UserError, match=f"n_best is {n_best} and beam_size {beam_size}"):
        search(random_model(15), [0], [3], beam_size=beam_size, n_best=n_best)


def test_a_length_penalty_out_of_range_is_refused():
    with pytest.raises(UserError, match="length_penalty must be between -10 and 10, not nan"):
        search(random_model(15), [0], [3], beam_size=2, length_penalty=float("nan"))


def test_an_empty_batch_gives_an_empty_list():
    assert search(random_model(15), [], [], beam_size=3) == []


def test_search_keeps_no_graph():
    weight, seen = torch.zeros(7, requires_grad=True), []

    def next_token(_, ids):
        seen.append((weight + 0.0).requires_grad)
        return weight.log_softmax(-1)

    search(Model(next_token), [0], [3], beam_size=3)
    assert not any(seen)
