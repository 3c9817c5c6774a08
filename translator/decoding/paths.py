"""Following paths that never compete: the loop that greedy search and sampling share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from translator.decoding.candidates import IMPOSSIBLE, Candidates
from translator.decoding.hypothesis import Hypothesis, check_length_penalty, make_hypothesis
from translator.decoding.leaving import staying
from translator.decoding.state import S, Step

# choose(candidates of R rows, paths of the rows) -> (R,), the token each path takes
Choose = Callable[[Candidates, list[int]], Tensor]


@dataclass
class _Path:
    """One output that grows; closed by the end of sentence, its limit, or a dead end."""

    limit: int
    ids: list[int] = field(default_factory=list)
    log_prob: float = 0.0
    finished: bool = False
    open: bool = True

    def take(self, token: int, log_prob: float, eos_id: int) -> None:
        """Add a token; a closed path stays as it is, and one where nothing is possible is cut."""
        if not self.open:
            return
        if log_prob == IMPOSSIBLE:
            self.open = False
            return
        self.log_prob += log_prob
        self.finished = token == eos_id
        if not self.finished:
            self.ids.append(token)
        self.open = not self.finished and len(self.ids) < self.limit


@torch.no_grad()
def follow(
    step: Step[S], state: S, max_lengths: Tensor, choose: Choose, *, width: int, bos_id: int, eos_id: int,
    length_penalty: float, banned: Sequence[int], no_repeat_ngram: int,
) -> list[list[Hypothesis]]:  # fmt: skip
    """Let `width` paths a sentence grow to their ends, each by what `choose` picks.

    max_lengths (B,) >= 1: generated tokens, end of sentence included. Returns `width` hypotheses a sentence,
    best score first. A sentence's results do not depend on the other sentences.
    """
    check_length_penalty(length_penalty)
    paths = [_Path(limit) for limit in max_lengths.tolist() for _ in range(width)]
    rows = torch.arange(len(max_lengths), device=max_lengths.device)[:, None].expand(-1, width)
    if width > 1:
        state = state.select(rows)
    running = list(range(len(max_lengths)))
    last = max_lengths.new_full((len(paths),), bos_id)
    history = max_lengths.new_empty((len(paths), 0))
    while running:
        logits, state = step(last, state)
        candidates = Candidates(logits)
        candidates.forbid(banned, history, no_repeat_ngram)
        row_paths = [sentence * width + i for sentence in running for i in range(width)]
        last = choose(candidates, row_paths)
        gained = candidates.log_probs(last)
        for path, token, log_prob in zip(row_paths, last.tolist(), gained.tolist(), strict=True):
            paths[path].take(token, log_prob, eos_id)
        if no_repeat_ngram:  # nobody else looks back
            history = torch.cat([history, last[:, None]], dim=1)
        kept = staying([_any_open(paths, sentence, width) for sentence in running])
        if 0 < len(kept) < len(running):
            rows = torch.tensor(kept, device=last.device)[:, None] * width
            rows = rows + torch.arange(width, device=last.device)  # (B2, width)
            state, last, history = state.select(rows), last[rows.flatten()], history[rows.flatten()]
        running = [running[i] for i in kept]
    found = [make_hypothesis(p.ids, p.log_prob, finished=p.finished, alpha=length_penalty) for p in paths]
    groups = [found[i : i + width] for i in range(0, len(found), width)]
    return [sorted(group, key=lambda hypothesis: -hypothesis.score) for group in groups]


def _any_open(paths: list[_Path], sentence: int, width: int) -> bool:
    return any(path.open for path in paths[sentence * width : (sentence + 1) * width])
