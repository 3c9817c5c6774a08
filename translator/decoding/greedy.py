"""Greedy search: always the most probable next token."""

from collections.abc import Sequence

from torch import Tensor

from translator.decoding.candidates import Candidates
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.paths import follow
from translator.decoding.state import S, Step


def greedy_search(
    step: Step[S], state: S, max_lengths: Tensor, *, bos_id: int, eos_id: int, length_penalty: float = 1.0,
    banned: Sequence[int] = (), no_repeat_ngram: int = 0,
) -> list[list[Hypothesis]]:  # fmt: skip
    """One hypothesis a sentence, made of the best token at each step.

    max_lengths (B,) int64 counts generated tokens, the end of sentence included; a hypothesis that reaches
    it without an end is returned unfinished. The length penalty changes the score alone, never the choice.
    `banned` ids and, with no_repeat_ngram = n > 0, repeated n-grams are never produced.
    """
    return follow(
        step, state, max_lengths, _best, width=1, bos_id=bos_id, eos_id=eos_id,
        length_penalty=length_penalty, banned=banned, no_repeat_ngram=no_repeat_ngram,
    )  # fmt: skip


def _best(candidates: Candidates, _paths: list[int]) -> Tensor:
    return candidates.first()
