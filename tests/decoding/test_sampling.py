import math

import pytest
import torch

from tests.decoding.models import BOS, EOS, NEVER, Model, chain, limits, random_model, rules
from translator.decoding.greedy import greedy_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import SearchRules
from translator.decoding.sampling import _draw, sample
from translator.errors import UserError


def draw(model: Model, sentences, max_lengths, seeds, **options) -> list[list[Hypothesis]]:
    given = rules(options)
    return sample(model.step, model.start(sentences), limits(*max_lengths), given, seeds=seeds, **options)


def shares(counts: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], float]:
    return {ids: count / sum(counts.values()) for ids, count in counts.items()}


def one_word(**options) -> dict[tuple[int, ...], float]:
    """How often each of four one-word outputs is drawn, of 2,000; probabilities 0.5, 0.3, 0.15, 0.05."""
    words = {4: 0.5, 5: 0.3, 6: 0.15, 7: 0.05}
    model = chain({BOS: words, **{word: {EOS: 1.0} for word in words}}, vocabulary=8)
    counts: dict[tuple[int, ...], int] = {}
    for h in draw(model, [0], [3], [1], n_best=2000, **options)[0]:
        counts[h.ids] = counts.get(h.ids, 0) + 1
    return shares(counts)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {4: 0.5, 5: 0.3, 6: 0.15, 7: 0.05}),
        ({"temperature": 0.5}, {4: 0.685, 5: 0.247, 6: 0.062, 7: 0.007}),  # squares, normalised
        ({"top_k": 2}, {4: 0.625, 5: 0.375}),
        ({"top_p": 0.7}, {4: 0.625, 5: 0.375}),  # 0.5 is not enough, 0.8 is
        ({"top_p": 0.9}, {4: 0.526, 5: 0.316, 6: 0.158}),
        ({"top_k": 3, "top_p": 0.6}, {4: 0.625, 5: 0.375}),  # of the three left, 0.526 is not enough
        ({"temperature": 0.5, "top_p": 0.68}, {4: 1.0}),  # the nucleus is that of the sharpened distribution
    ],
)
def test_outputs_are_drawn_as_often_as_they_are_probable(options, expected):
    found = one_word(**options)
    assert set(found) == {(word,) for word in expected}
    assert all(abs(found[word,] - share) < 0.035 for word, share in expected.items())


def test_all_chance_comes_from_the_seed_of_the_sentence():
    first = draw(random_model(1), range(5), [9] * 5, [1, 2, 3, 4, 5], n_best=3)
    again = draw(random_model(1), range(5), [9] * 5, [1, 2, 3, 4, 5], n_best=3)
    other = draw(random_model(1), range(5), [9] * 5, [6, 2, 3, 4, 7], n_best=3)
    assert first == again
    assert [a == b for a, b in zip(first, other, strict=True)] == [False, True, True, True, False]


def test_results_do_not_depend_on_the_neighbours():
    lengths, seeds = [3, 11, 5, 2, 7, 9, 4], [10, 11, 12, 13, 14, 15, 16]
    options = {"n_best": 2, "top_p": 0.9, "temperature": 1.3}
    together = draw(random_model(2), range(7), lengths, seeds, **options)
    for group in ([3], [1, 5], [0, 2, 6]):
        alone = draw(random_model(2), group, [lengths[i] for i in group], [seeds[i] for i in group], **options)
        assert alone == [together[i] for i in group]


def test_samples_of_a_sentence_differ_and_more_of_them_begin_with_the_same():
    few, many = (set(draw(random_model(3), [0], [9], [1], n_best=n)[0]) for n in (3, 7))
    assert len(many) > 1
    assert few < many


def test_samples_come_best_first_with_the_models_own_probability():
    model = random_model(4)
    found = draw(model, range(3), [6] * 3, [1, 2, 3], n_best=5, temperature=0.7, top_k=3, length_penalty=0.6)
    for sentence, entries in enumerate(found):
        assert len(entries) == 5
        assert [h.score for h in entries] == sorted((h.score for h in entries), reverse=True)
        for h in entries:
            assert h.log_prob == pytest.approx(model.forced(sentence, h.ids, finished=h.finished), abs=1e-5)


@pytest.mark.parametrize("options", [{"top_k": 1}, {"top_p": 1e-6}, {"temperature": 0.01}])
def test_the_narrowest_choice_is_greedy(options):
    model = random_model(5, spread=5.0)
    greedy = greedy_search(model.step, model.start(range(7)), limits(*[8] * 7), SearchRules(BOS, EOS))
    assert draw(model, range(7), [8] * 7, range(7), **options) == greedy


def test_bans_and_blocked_repeats_hold():
    found = draw(random_model(6, end=-3.0), range(5), [8] * 5, range(5), n_best=3, banned=(1,), no_repeat_ngram=1)
    for entries in found:
        assert all(1 not in h.ids and len(set(h.ids)) == len(h.ids) for h in entries)


@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.99])
def test_the_nucleus_is_exact_for_flat_and_peaked_distributions_side_by_side(top_p):
    logits = torch.randn(5, 499, generator=torch.Generator().manual_seed(1)) * torch.tensor([0, 0.1, 1, 5, 20])[:, None]
    logits[0] = torch.linspace(0.0, 1e-3, 499)
    ordered, tokens = logits.softmax(-1).sort(descending=True)
    sizes = (ordered.cumsum(-1) < top_p).sum(-1) + 1
    points = torch.linspace(0, 1, 2001)
    for row, size in enumerate(sizes.tolist()):
        drawn = set(_draw(logits[row].expand(2001, -1), 0, top_p, points).tolist())
        assert drawn <= set(tokens[row, :size].tolist())
        assert tokens[row, 0].item() in drawn
        if row < 2:  # flat enough for these points to meet every token (but one at the edge, by rounding)
            assert len(drawn) >= size - 1
    together = _draw(logits, 0, top_p, torch.full((5,), 1.0))
    assert all(token in tokens[row, : sizes[row]] for row, token in enumerate(together.tolist()))


@pytest.mark.parametrize("top_p", [0.9, 1.0])
@pytest.mark.parametrize("point", [0.0, 0.5, 1 - 2**-25, 1.0])
def test_an_impossible_token_is_never_drawn(top_p, point):
    log_probs = torch.full((1, 9), NEVER)
    log_probs[0, [3, 5]] = math.log(0.5)
    assert _draw(log_probs, 0, top_p, torch.tensor([point])).item() in {3, 5}


def test_where_nothing_is_possible_the_output_is_cut():
    model = chain({BOS: {4: 1.0}}, vocabulary=6)
    for options in ({}, {"top_k": 3}, {"top_p": 0.5}):
        assert draw(model, [0], [9], [1], **options)[0] == [Hypothesis((4,), 0.0, 0.0, finished=False)]


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": 0.0}, {"temperature": float("nan")}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.5}, {"n_best": 0}],
)
def test_options_without_meaning_are_refused(wrong):
    with pytest.raises(UserError, match=f"{next(iter(wrong))} must be"):
        draw(random_model(7), [0], [3], [1], **wrong)
