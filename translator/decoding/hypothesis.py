"""What a search returns, and the one length penalty there is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A translation and what the model thinks of it."""

    ids: tuple[int, ...]  # without beginning and end of sentence
    log_prob: float  # sum over the generated tokens, the end of sentence among them when finished
    score: float  # log_prob / length ** alpha; hypotheses are ranked by it
    finished: bool  # False: cut at the length limit


def length_normalised(log_prob: float, length: int, alpha: float) -> float:
    """log_prob / length ** alpha; length counts every generated token, so the end of sentence, too.

    alpha 0 ranks by probability, 1 by the mean per token; negative values favour short output further.
    """
    return log_prob / math.pow(max(length, 1), alpha)


def attainable(log_prob: float, length: int, limit: int, alpha: float) -> float:
    """The best score that any continuation of an open hypothesis of `length` tokens can reach.

    More tokens never raise log_prob. So at best it stays as it is, and the divisor is the largest one: that of the
    longest output for a positive alpha, that of the shortest one otherwise.
    """
    return length_normalised(log_prob, limit if alpha > 0 else length + 1, alpha)


def make_hypothesis(ids: Sequence[int], log_prob: float, *, finished: bool, alpha: float) -> Hypothesis:
    """A hypothesis with its score; `ids` are without the end of sentence."""
    return Hypothesis(tuple(ids), log_prob, length_normalised(log_prob, len(ids) + finished, alpha), finished)
