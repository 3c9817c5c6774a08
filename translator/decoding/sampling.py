"""Sampling: outputs drawn at random from the model's distribution, or from the top of it."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from translator.decoding.candidates import IMPOSSIBLE, Candidates
from translator.decoding.greedy import follow
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import S, SearchRules, Step
from translator.errors import UserError, at_least

# Few distributions need more tokens to reach a usual top_p, and these few are found far faster than all are sorted.
_USUAL_NUCLEUS = 64


def sample(
    step: Step[S], state: S, max_lengths: Tensor, rules: SearchRules, *, seeds: Sequence[int], n_best: int = 1,
    temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0,
) -> list[list[Hypothesis]]:  # fmt: skip
    """n_best independent samples a sentence, best score first; they may repeat.

    The probabilities are sharpened by `temperature`, then cut to the top_k most probable tokens (0: all), then to the
    nucleus: the fewest that together reach top_p (Holtzman 2020, 3.1); tokens that tie with the last one stay. log_prob
    and score are under the model's own distribution, neither sharpened nor cut. seeds (B,): all the chance in a
    sentence comes from its own seed, so that it is drawn alike in any batch; sample i is the same for any n_best.
    Limits as in greedy_search.

    Raises UserError for a temperature outside [0.01, 100], top_k < 0, top_p outside (0, 1] or n_best < 1.
    """
    at_least("top_k", top_k, 0)
    at_least("n_best", n_best, 1)
    if not 0.01 <= temperature <= 100:
        raise UserError(f"temperature must be between 0.01 and 100 (1: as the model has it), not {temperature}")
    if not 0 < top_p <= 1:
        raise UserError(f"top_p must be a probability above 0 and at most 1, not {top_p}")
    chance = [random.Random(f"{seed}/{i}") for seed in seeds for i in range(n_best)]

    def choose(candidates: Candidates, paths: list[int]) -> Tensor:
        logits = candidates.logits()
        points = torch.tensor([chance[path].random() for path in paths], device=logits.device)
        return _draw(logits / temperature, top_k, top_p, points)

    return follow(step, state, max_lengths, rules, choose, width=n_best)


def _draw(logits: Tensor, top_k: int, top_p: float, points: Tensor) -> Tensor:
    """(R,) tokens: for each row of logits (R, V) the one at `points` (R,) in [0, 1) of the distribution."""
    if 0 < top_k < logits.shape[1]:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], IMPOSSIBLE)
    # A row in which nothing is possible is all NaN: whichever token it yields is impossible and ends the path.
    weights = logits.softmax(-1)
    if top_p < 1:
        weights = weights * (weights >= _least_in_nucleus(weights, top_p))
    reach = weights.cumsum(-1)
    # A point may round up to 1; kept below, it cannot fall behind the last token that is possible.
    points = points.clamp(max=1 - 2**-24)[:, None] * reach[:, -1:]
    place = torch.searchsorted(reach, points, right=True)
    return place.clamp_(max=reach.shape[1] - 1).flatten()


def _least_in_nucleus(weights: Tensor, top_p: float) -> Tensor:
    """(R, 1): the smallest of the largest weights (R, V) that together reach top_p."""
    largest = weights.topk(min(_USUAL_NUCLEUS, weights.shape[1])).values
    least = _last_needed(largest, top_p)
    short = (largest.sum(-1) < top_p).nonzero().flatten()
    if len(short) > 0:
        least[short] = _last_needed(weights[short].sort(descending=True).values, top_p)
    return least


def _last_needed(sorted_weights: Tensor, top_p: float) -> Tensor:
    before = sorted_weights.cumsum(-1) - sorted_weights
    return sorted_weights.masked_fill(before >= top_p, float("inf")).amin(-1, keepdim=True)
