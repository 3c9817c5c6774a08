import pytest
import torch

from tests.decoding.models import BOS, EOS, UNK, Model, chain, limits, random_model, rules
from translator.decoding.greedy import greedy_search
from translator.decoding.hypothesis import Hypothesis
from translator.errors import UserError


def search(model: Model, sentences, max_lengths, **options) -> list[Hypothesis]:
    found = greedy_search(model.step, model.start(sentences), limits(*max_lengths), rules(options))
    assert not options
    assert all(len(entries) == 1 for entries in found)
    return [entries[0] for entries in found]


def reference(model: Model, sentence: int, limit: int, banned=()) -> tuple[tuple[int, ...], float, bool]:
    ids, total = (), 0.0
    while len(ids) < limit:
        log_probs = model.next_token(sentence, ids).clone()
        log_probs[list(banned)] = float("-inf")
        best = log_probs.argmax().item()
        total += log_probs[best].item()
        if best == EOS:
            return ids, total, True
        ids = (*ids, best)
    return ids, total, False


def test_every_sentence_follows_its_best_tokens_to_the_end_or_its_own_limit():
    model, lengths = random_model(1, end=0.5), [1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    found = search(model, range(11), lengths, length_penalty=0.6)
    assert len({hypothesis.finished for hypothesis in found}) == 2
    for sentence, (hypothesis, limit) in enumerate(zip(found, lengths, strict=True)):
        ids, total, finished = reference(model, sentence, limit)
        assert (hypothesis.ids, hypothesis.finished) == (ids, finished)
        assert hypothesis.log_prob == pytest.approx(total, abs=1e-5)
        assert hypothesis.score == pytest.approx(total / (len(ids) + finished) ** 0.6, abs=1e-5)


def test_a_chain_written_by_hand():
    model = chain({BOS: {4: 0.6, EOS: 0.4}, 4: {5: 0.5, EOS: 0.3, 4: 0.2}, 5: {EOS: 1.0}}, vocabulary=6)
    (hypothesis,) = search(model, [0], [9])
    assert hypothesis.ids == (4, 5)
    assert hypothesis.log_prob == pytest.approx(torch.tensor(0.3).log().item())
    assert hypothesis.score == pytest.approx(hypothesis.log_prob / 3)


def test_results_do_not_depend_on_the_neighbours():
    lengths = {sentence: 3 + sentence % 7 for sentence in range(17)}
    together = search(random_model(2), range(17), lengths.values())
    for group in ([4], [0, 1, 2], [3, 5, 8, 13, 16]):
        assert search(random_model(2), group, [lengths[i] for i in group]) == [together[i] for i in group]


def test_sentences_that_are_done_leave_the_batch():
    model = chain({BOS: {EOS: 1.0}}, vocabulary=5)
    stays = chain({BOS: {4: 1.0}, 4: {4: 1.0}}, vocabulary=5)
    mixed = Model(lambda sentence, ids: (stays if sentence == 2 else model).next_token(sentence, ids))
    found = search(mixed, range(5), [6] * 5)
    assert [hypothesis.ids for hypothesis in found] == [(), (), (4,) * 6, (), ()]
    assert mixed.steps == [5, 1, 1, 1, 1, 1]


def test_nothing_is_added_to_a_finished_sentence_that_waits_for_its_neighbours():
    # One of 23 is too few to be worth a smaller batch: it goes on being read, without effect.
    model = Model(lambda sentence, ids: chains[sentence == 0].next_token(sentence, ids))
    chains = [chain({BOS: {4: 1.0}, 4: {4: 1.0}, EOS: {4: 1.0}}, vocabulary=5),
              chain({BOS: {EOS: 1.0}, EOS: {4: 1.0}, 4: {4: 1.0}}, vocabulary=5)]  # fmt: skip
    found = search(model, range(23), [3] * 23)
    assert model.steps == [23, 23, 23]
    assert found[0] == Hypothesis((), 0.0, 0.0, finished=True)
    assert all(hypothesis.ids == (4, 4, 4) and not hypothesis.finished for hypothesis in found[1:])


def test_the_length_penalty_changes_the_score_alone():
    runs = [search(random_model(3), range(5), [7] * 5, length_penalty=alpha) for alpha in (-1.0, 0.0, 2.0)]
    assert len({tuple((h.ids, h.log_prob, h.finished) for h in run) for run in runs}) == 1
    assert len({tuple(h.score for h in run) for run in runs}) == 3


def test_banned_tokens_are_replaced_by_the_next_best_with_the_models_own_probability():
    model = random_model(4, end=-1.0)
    found = search(model, range(13), [7] * 13, banned=(UNK, 5))
    assert any(UNK in hypothesis.ids for hypothesis in search(model, range(13), [7] * 13))
    for sentence, hypothesis in enumerate(found):
        ids, total, finished = reference(model, sentence, 7, banned=(UNK, 5))
        assert (hypothesis.ids, hypothesis.finished) == (ids, finished)
        assert hypothesis.log_prob == pytest.approx(total, abs=1e-5)


def test_no_ngram_is_repeated_where_that_is_asked_for():
    loop = chain({BOS: {4: 1.0}, 4: {5: 0.9, EOS: 0.1}, 5: {4: 0.9, EOS: 0.1}}, vocabulary=6)
    assert search(loop, [0], [9])[0].ids == (4, 5, 4, 5, 4, 5, 4, 5, 4)
    assert search(loop, [0], [9], no_repeat_ngram=2)[0].ids == (4, 5, 4)
    assert search(loop, [0], [9], no_repeat_ngram=3)[0].ids == (4, 5, 4, 5)


def test_repeats_are_looked_for_in_the_sentence_itself_when_others_have_left():
    model, lengths = random_model(6, end=-3.0, spread=3.0), [2, 11, 3, 12, 5, 13]
    together = search(model, range(6), lengths, no_repeat_ngram=1)
    alone = [search(model, [i], [limit], no_repeat_ngram=1)[0] for i, limit in enumerate(lengths)]
    assert together == alone
    assert all(len(set(hypothesis.ids)) == len(hypothesis.ids) for hypothesis in together)


def test_where_nothing_is_possible_the_output_is_cut():
    model = chain({BOS: {4: 1.0}, 4: {5: 1.0}}, vocabulary=6)
    (hypothesis,) = search(model, [0], [9])
    assert hypothesis == Hypothesis((4, 5), 0.0, 0.0, finished=False)


def test_an_empty_batch_gives_an_empty_list():
    assert search(random_model(5), [], []) == []


def test_a_length_penalty_out_of_range_is_refused():
    with pytest.raises(UserError, match="length_penalty must be between -10 and 10, not 99"):
        search(random_model(5), [0], [3], length_penalty=99.0)
