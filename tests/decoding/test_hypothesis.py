import pytest

from translator.decoding.hypothesis import attainable, length_normalised, make_hypothesis
from translator.decoding.interface import SearchRules
from translator.errors import UserError


def test_length_counts_the_end_of_sentence_when_there_is_one():
    assert make_hypothesis([5, 6], -6.0, finished=True, alpha=1.0).score == pytest.approx(-2.0)
    assert make_hypothesis([5, 6], -6.0, finished=False, alpha=1.0).score == pytest.approx(-3.0)


def test_an_output_cut_before_its_first_token_has_a_score():
    assert make_hypothesis([], 0.0, finished=False, alpha=1.0).score == 0.0


@pytest.mark.parametrize(("alpha", "score"), [(0.0, -8.0), (0.5, -4.0), (1.0, -2.0), (2.0, -0.5), (-1.0, -32.0)])
def test_score_is_log_probability_by_a_power_of_the_length(alpha, score):
    assert length_normalised(-8.0, 4, alpha) == pytest.approx(score)


@pytest.mark.parametrize("alpha", [-2.0, -0.5, 0.0, 0.6, 1.0, 2.0])
def test_nothing_that_follows_scores_above_what_is_attainable(alpha):
    bound = attainable(-3.0, 4, 11, alpha)
    scores = [length_normalised(-3.0 - loss, length, alpha) for length in range(5, 12) for loss in (0.0, 0.1, 2.0)]
    assert max(scores) == pytest.approx(bound)


@pytest.mark.parametrize("alpha", [11.0, -11.0, float("nan"), float("inf")])
def test_an_exponent_beyond_all_use_is_refused(alpha):
    with pytest.raises(UserError, match="length_penalty must be between -10 and 10, not"):
        SearchRules(2, 3, length_penalty=alpha)
