"""Greedy search, always the most probable next token, and the loop that it shares with sampling."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from translator.decoding.candidates import IMPOSSIBLE, Candidates
from translator.decoding.hypothesis import Hypothesis, make_hypothesis
from translator.decoding.interface import S, SearchRules, Step
from translator.decoding.leaving import staying


def greedy_search(step: Step[S], state: S, max_lengths: Tensor, rules: SearchRules) -> list[list[Hypothesis]]:
    """One hypothesis a sentence, made of the best token at each step.

    max_lengths (B,) int64 counts generated tokens, the end of sentence included; a hypothesis that reaches it without
    an end is returned unfinished. The length penalty changes the score alone, never the choice.
    """
    return follow(step, state, max_lengths, rules, lambda candidates, _: candidates.first(), width=1)


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
        self.open = self.open and log_prob != IMPOSSIBLE
        if not self.open:
            return
        self.log_prob += log_prob
        self.finished = token == eos_id
        if not self.finished:
            self.ids.append(token)
        self.open = not self.finished and len(self.ids) < self.limit


@torch.no_grad()
def follow(
    step: Step[S], state: S, max_lengths: Tensor, rules: SearchRules,
    choose: Callable[[Candidates, list[int]], Tensor], *, width: int,
) -> list[list[Hypothesis]]:  # fmt: skip
    """Let `width` paths per sentence, which never compete, grow to their ends -> their hypotheses, best score first.

    choose(candidates of R rows, paths of the rows) picks the token that each path takes (R,). max_lengths (B,) >= 1:
    generated tokens, end of sentence included. A sentence's results do not depend on the other sentences.
    """
    paths = [_Path(limit) for limit in max_lengths.tolist() for _ in range(width)]
    running = list(range(len(max_lengths)))
    if width > 1:
        state = state.select(torch.arange(len(running), device=max_lengths.device)[:, None].expand(-1, width))
    last = max_lengths.new_full((len(paths),), rules.bos_id)
    history = max_lengths.new_empty((len(paths), 0))
    while running:
        logits, state = step(last, state)
        candidates = Candidates(logits)
        candidates.forbid(rules.banned, history, rules.no_repeat_ngram)
        row_paths = [sentence * width + i for sentence in running for i in range(width)]
        last = choose(candidates, row_paths)
        gained = candidates.log_probs(last)
        for path, token, log_prob in zip(row_paths, last.tolist(), gained.tolist(), strict=True):
            paths[path].take(token, log_prob, rules.eos_id)
        if rules.no_repeat_ngram:  # nobody else looks back
            history = torch.cat([history, last[:, None]], dim=1)
        kept = staying([any(path.open for path in paths[i * width : (i + 1) * width]) for i in running])
        if 0 < len(kept) < len(running):
            first = torch.tensor(kept, device=last.device)[:, None] * width
            rows = first + torch.arange(width, device=last.device)  # (B2, width)
            state, last, history = state.select(rows), last[rows.flatten()], history[rows.flatten()]
        running = [running[i] for i in kept]
    outputs = [make_hypothesis(p.ids, p.log_prob, finished=p.finished, alpha=rules.length_penalty) for p in paths]
    return [sorted(outputs[i : i + width], key=lambda h: -h.score) for i in range(0, len(outputs), width)]
