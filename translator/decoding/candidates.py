"""Picking the next tokens out of the vocabulary: how probable they are, which are forbidden, which are best."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

IMPOSSIBLE = float("-inf")
_BLOCK = 64  # tokens that share one maximum; 32 to 64 are the fastest for 4,000 to 32,000 tokens
_ROWS = 32  # rows whose exponentials are formed at a time: few enough to stay in a CPU's cache


class Candidates:
    """What may follow each of R prefixes, by logits (R, V) of any floating type, which it may overwrite.

    The vocabulary is read once, piece by piece while it is in the cache, for two things: the largest logit of each
    block of tokens, and ``mass`` (R,), the logarithm of the sum of exp(logit) in float32 or better. A logit minus its
    row's mass is the token's log-probability, and a search needs those of a few tokens only: a log-softmax over all of
    them and a topk over rows would take most of a step.
    """

    def __init__(self, logits: Tensor) -> None:
        self._vocabulary = logits.shape[1]
        if self._vocabulary % _BLOCK:
            logits = F.pad(logits, (0, -self._vocabulary % _BLOCK), value=IMPOSSIBLE)
        wide = torch.promote_types(logits.dtype, torch.float32)
        scratch = torch.empty(min(_ROWS, len(logits)), logits.shape[1], dtype=wide, device=logits.device)
        read = [_maxima_and_mass(scratch[: len(rows)].copy_(rows)) for rows in logits.split(_ROWS)]
        self._blocks = logits.view(len(logits), -1, _BLOCK)  # (R, V/block, block)
        # (R, V/block) and (R,); one piece is taken as it is, not copied
        self._maxima, self.mass = (torch.cat(p) if len(p) > 1 else p[0] for p in zip(*read, strict=True))

    def forbid(self, banned: Sequence[int], history: Tensor, no_repeat_ngram: int) -> None:
        """Make tokens impossible; the others keep the probability that the model gives them.

        history (R, T): the tokens generated so far. `banned` are forbidden everywhere, and with no_repeat_ngram = n > 0
        so is each token that would complete an n-gram its row already holds (Paulus 2017, 2.5, for any n).
        """
        for token in banned:
            block = self._blocks.select(1, token // _BLOCK)
            block.select(1, token % _BLOCK).fill_(IMPOSSIBLE)
            self._maxima.select(1, token // _BLOCK).copy_(block.amax(1))
        if 0 < no_repeat_ngram <= history.shape[1]:
            grams = history.unfold(1, no_repeat_ngram, 1)  # (R, T-n+1, n)
            opening = history[:, history.shape[1] - no_repeat_ngram + 1 :]  # (R, n-1): what is half said now
            rows, places = (grams[:, :, :-1] == opening[:, None]).all(-1).nonzero(as_tuple=True)
            tokens = grams[rows, places, -1]  # each would complete an n-gram that its row holds
            self._blocks[rows, tokens // _BLOCK, tokens % _BLOCK] = IMPOSSIBLE
            self._maxima[rows, tokens // _BLOCK] = self._blocks[rows, tokens // _BLOCK].amax(1).to(self._maxima.dtype)

    def logits(self) -> Tensor:
        """All of them (R, V) in float32 or better, -inf where forbidden."""
        return self._blocks.flatten(1)[:, : self._vocabulary].to(self.mass.dtype)

    def log_probs(self, tokens: Tensor) -> Tensor:
        """The log-probability of a token of each row (R,) -> (R,)."""
        return self._blocks.flatten(1).gather(1, tokens[:, None])[:, 0] - self.mass

    def first(self) -> Tensor:
        """The best token of each row (R,), the first of equals; any where nothing is possible."""
        block = self._maxima.argmax(1)  # (R,)
        values = self._blocks[torch.arange(len(block), device=block.device), block]  # (R, block)
        return values.argmax(1).add_(block, alpha=_BLOCK).clamp_(max=self._vocabulary - 1)

    def best(self, scores: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """The `count` best continuations of each sentence, best first.

        scores (B, N) of the prefixes, B * N = R. Returns (B, K) each: score, beam 0..N-1, token; K = min(count, N*V).
        Scores of -inf are no candidates, and their tokens mean nothing (but are < V).

        Exact, though only the K blocks with the largest maxima are sorted: the K best are among them. At 64 sentences,
        5 beams and 8,000 tokens this takes a quarter of the time of topk over a row.
        """
        sentences, beams = scores.shape
        per_beam, count = self._maxima.shape[1], min(count, beams * self._vocabulary)
        before = scores - self.mass.view(sentences, beams)
        maxima = (self._maxima.view(sentences, beams, per_beam) + before[:, :, None]).flatten(1)  # (B, N*blocks)
        chosen = maxima.topk(min(count, beams * per_beam)).indices  # (B, C)
        blocks = self._blocks.view(sentences, beams * per_beam, _BLOCK)
        values = blocks.gather(1, chosen[:, :, None].expand(-1, -1, _BLOCK))  # (B, C, block)
        values = values + before.gather(1, chosen // per_beam)[:, :, None]
        best, place = values.flatten(1).topk(count)  # (B, K)
        block = chosen.gather(1, place // _BLOCK)
        token = block % per_beam * _BLOCK + place % _BLOCK
        return best, block // per_beam, token.clamp_(max=self._vocabulary - 1)


def _maxima_and_mass(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (r, V), which are spent -> the largest of each block (r, V/block), and the mass (r,).

    Where nothing is possible the mass is the least number there is, so that all stays impossible.
    """
    maxima = rows.view(len(rows), -1, _BLOCK).amax(2)
    least = torch.finfo(rows.dtype).min
    highest = maxima.amax(1, keepdim=True).clamp_min(least)
    mass = rows.sub_(highest).exp_().sum(1).log_() + highest[:, 0]
    return maxima, mass.clamp_min(least)
