"""Picking the next tokens out of the vocabulary: which are forbidden, which are best."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

IMPOSSIBLE = float("-inf")
_BLOCK = 64  # tokens that share one maximum; 32 to 64 are the fastest for 4,000 to 32,000 tokens
_ROWS = 64  # rows whose exponentials are formed at a time: few enough to stay in a CPU's cache


def log_mass(logits: Tensor) -> Tensor:
    """The logarithm of the sum over the vocabulary of exp(logit), (R, V) -> (R,), in float32 or better.

    A logit minus its row's log-mass is the log-probability of the token. A search looks at a few tokens of a row only,
    so that subtracting it from all of them, as a log-softmax does, would be the larger part of its work. Where nothing
    is possible it is the least number there is, so that all stays impossible.
    """
    wide = torch.promote_types(logits.dtype, torch.float32)
    mass = torch.cat([torch.logsumexp(rows.to(wide), dim=1) for rows in logits.split(_ROWS)])
    return mass.clamp_min(torch.finfo(wide).min)


def forbid(logits: Tensor, banned: Sequence[int], history: Tensor, no_repeat_ngram: int) -> None:
    """Make tokens impossible, in place; the others keep the probability the model gives them if `log_mass` was first.

    logits (R, V); history (R, T) the tokens generated so far. `banned` are forbidden everywhere, and
    with no_repeat_ngram = n > 0 so is each token that would complete an n-gram its row already holds
    (Paulus 2017, 2.5, for any n).
    """
    if banned:
        logits.index_fill_(1, torch.tensor(banned, device=logits.device), IMPOSSIBLE)
    if 0 < no_repeat_ngram <= history.shape[1]:
        grams = history.unfold(1, no_repeat_ngram, 1)  # (R, T-n+1, n)
        opening = history[:, history.shape[1] - no_repeat_ngram + 1 :]  # (R, n-1): what is half said now
        seen = (grams[:, :, :-1] == opening[:, None]).all(-1)  # (R, T-n+1)
        rows, places = seen.nonzero(as_tuple=True)
        logits[rows, grams[rows, places, -1]] = IMPOSSIBLE


def best_candidates(logits: Tensor, scores: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The `count` best continuations of each sentence, best first.

    logits (B*N, V); scores (B, N) of the prefixes, less the log-mass of their logits. Returns (B, K) each: score,
    beam 0..N-1, token; K = min(count, N*V). Scores of -inf are no candidates, and their tokens mean nothing (but are
    < V).

    Exact, and yet it reads the vocabulary once: the K best values lie in the K blocks with the largest
    maxima, so only those blocks are sorted. At 64 sentences, 5 beams and 8,000 tokens this takes a
    quarter of the time of topk over a row.
    """
    (sentences, beams), vocabulary = scores.shape, logits.shape[1]
    count = min(count, beams * vocabulary)
    if vocabulary % _BLOCK:
        logits = F.pad(logits, (0, -vocabulary % _BLOCK), value=IMPOSSIBLE)
    per_beam = logits.shape[1] // _BLOCK
    blocks = logits.view(sentences, beams * per_beam, _BLOCK)
    maxima = blocks.amax(2) + scores.repeat_interleave(per_beam, 1)  # (B, N*blocks)
    chosen = maxima.topk(min(count, beams * per_beam)).indices  # (B, C)
    values = blocks.gather(1, chosen[:, :, None].expand(-1, -1, _BLOCK))  # (B, C, block)
    values = values + scores.gather(1, chosen // per_beam)[:, :, None]
    best, place = values.flatten(1).topk(count)  # (B, K)
    block = chosen.gather(1, place // _BLOCK)
    token = (block % per_beam * _BLOCK + place % _BLOCK).clamp_(max=vocabulary - 1)
    return best, block // per_beam, token
