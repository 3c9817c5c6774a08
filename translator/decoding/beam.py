"""Beam search: the best few prefixes of each sentence, side by side."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from translator.decoding.candidates import IMPOSSIBLE, Candidates
from translator.decoding.greedy import greedy_search
from translator.decoding.hypothesis import Hypothesis, attainable, make_hypothesis
from translator.decoding.interface import S, SearchRules, Step
from translator.decoding.leaving import staying
from translator.errors import UserError


@torch.no_grad()
def beam_search(
    step: Step[S], state: S, max_lengths: Tensor, rules: SearchRules, *, beam_size: int, n_best: int = 1
) -> list[list[Hypothesis]]:
    """The n_best hypotheses a sentence that a beam finds, best score first, no two alike.

    At each step the 2 * beam_size best continuations of a sentence are looked at. Those among the first beam_size that
    end the sentence are finished: they are frozen and leave the beam. The best beam_size that do not end it go on.
    A sentence is done when
    - n_best hypotheses are finished and no live one can beat the worst of those, whatever follows
      (`hypothesis.attainable`; the shorter lists of a smaller n_best are beginnings of the longer ones), or
    - its limit in max_lengths is reached (B,), in generated tokens with the end of sentence. Live hypotheses then take,
      cut, the places among the beam_size best that finished ones have left free, and all are ranked together.
    It then leaves the batch or stays on without effect; results do not depend on the neighbours. A beam of one is
    greedy search. Raises UserError unless 1 <= n_best <= beam_size.
    """
    if not 1 <= n_best <= beam_size:
        raise UserError(f"n_best is {n_best} and beam_size {beam_size}: choose 1 <= n_best <= beam_size")
    if beam_size == 1:
        return greedy_search(step, state, max_lengths, rules)
    sentences = [_Sentence(limit, beam_size, n_best, rules.length_penalty) for limit in max_lengths.tolist()]
    # One prefix a sentence, not N copies of it: copies would fill the beam with the same hypothesis.
    last = max_lengths.new_full((len(sentences),), rules.bos_id)
    scores = torch.zeros(len(sentences), 1, device=last.device)
    beam = _Beam(sentences, scores, last.new_empty((len(sentences), 0)), last)
    while beam.running:
        logits, state = step(beam.last, state)
        candidates = Candidates(logits)
        candidates.forbid(rules.banned, beam.history, rules.no_repeat_ngram)
        beam, rows = beam.advance(candidates, beam_size, rules.eos_id)
        if beam.running:
            state = state.select(rows)
    return [sentence.kept[:n_best] for sentence in sentences]


@dataclass
class _Sentence:
    """The best complete hypotheses of one sentence, and when to look for no more."""

    limit: int
    beam_size: int
    n_best: int
    alpha: float
    kept: list[Hypothesis] = field(default_factory=list)
    done: bool = False

    def add(self, outputs: Iterable[tuple[list[int], float]], finished: bool) -> None:
        """Rank outputs and their log-probabilities among the hypotheses kept; the beam_size best stay."""
        new = [make_hypothesis(ids, log_prob, finished=finished, alpha=self.alpha) for ids, log_prob in outputs]
        self.kept = sorted(self.kept + new, key=lambda h: -h.score)[: self.beam_size]

    def cut(self, prefixes: Tensor, log_probs: Tensor) -> None:
        """Fill free places with live hypotheses: prefixes (N, T), log_probs (N,), best first."""
        free = self.beam_size - len(self.kept)
        pairs = zip(prefixes[:free].tolist(), log_probs[:free].tolist(), strict=True)
        self.add([(ids, log_prob) for ids, log_prob in pairs if log_prob != IMPOSSIBLE], finished=False)

    def settled(self, best_live: float, length: int) -> bool:
        """No live hypothesis can change the list any more: there is none, or none is good enough."""
        if best_live == IMPOSSIBLE:
            return True
        full = len(self.kept) >= self.n_best
        return full and attainable(best_live, length, self.limit, self.alpha) <= self.kept[self.n_best - 1].score


@dataclass
class _Beam:
    """The live hypotheses of sentences, N each (one at the start); those of sentences that are done mean nothing."""

    running: list[_Sentence]  # B
    scores: Tensor  # (B, N) log-probabilities, best first; -inf where fewer than N are possible
    history: Tensor  # (B*N, T) their tokens
    last: Tensor  # (B*N,) what the model reads next

    def advance(self, candidates: Candidates, beam_size: int, eos_id: int) -> tuple["_Beam", Tensor]:
        """One token on, by candidates of B*N rows -> the new beam, and the old rows (B2, N2) it comes from."""
        top, parent, token = candidates.best(self.scores, 2 * beam_size)  # (B, K)
        n_sentences, n_beams = self.scores.shape
        row = parent + torch.arange(0, n_sentences * n_beams, n_beams, device=parent.device)[:, None]  # (B, K)
        ends = token == eos_id
        self._finish(ends[:, :beam_size] & (top[:, :beam_size] > IMPOSSIBLE), top, row)
        # At most N candidates end, one a beam, so that 2N candidates leave N live ones.
        scores, chosen = top.masked_fill(ends, IMPOSSIBLE).topk(min(beam_size, top.shape[1]))  # (B, N)
        row, token = row.gather(1, chosen), token.gather(1, chosen)
        history = torch.cat([self.history[row], token[:, :, None]], dim=2)  # (B, N, T+1)
        self._close(scores, history)
        kept = staying([not sentence.done for sentence in self.running])
        if len(kept) < len(self.running):
            index = torch.tensor(kept, dtype=torch.long, device=row.device)
            scores, row, token, history = scores[index], row[index], token[index], history[index]
        return _Beam([self.running[i] for i in kept], scores, history.flatten(0, 1), token.flatten()), row

    def _finish(self, ended: Tensor, top: Tensor, row: Tensor) -> None:
        """Hand the candidates that end (where `ended`) to their sentences."""
        which, rank = ended.nonzero(as_tuple=True)  # sentence, and place among its candidates
        if len(which) == 0:
            return
        prefixes, log_probs = self.history[row[which, rank]], top[which, rank]
        for index, ids, log_prob in zip(which.tolist(), prefixes.tolist(), log_probs.tolist(), strict=True):
            if not self.running[index].done:
                self.running[index].add([(ids, log_prob)], finished=True)

    def _close(self, scores: Tensor, history: Tensor) -> None:
        """Close the sentences that are done. scores (B, N), history (B, N, T+1)."""
        length = history.shape[2]
        for i, (sentence, best_live) in enumerate(zip(self.running, scores[:, 0].tolist(), strict=True)):
            if sentence.done:
                continue
            sentence.done = True
            if best_live == IMPOSSIBLE and not sentence.kept:
                beams = self.scores.shape[1]  # a dead end: what led to it is all there is
                sentence.cut(self.history[i * beams : (i + 1) * beams], self.scores[i])
            elif length >= sentence.limit:
                sentence.cut(history[i], scores[i])
            else:
                sentence.done = sentence.settled(best_live, length)
