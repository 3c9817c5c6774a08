"""How good translations are: corpus BLEU, chrF and TER, each with the signature that makes it comparable.

Everything is computed by sacreBLEU (Post 2018, "A Call for Clarity in Reporting BLEU Scores") on plain,
detokenised text, so any number here can be checked with the ``sacrebleu`` command.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from translator.errors import UserError

_log = logging.getLogger(__name__)
_SUBWORD_MARKS = ("▁", "@@ ")  # SentencePiece's and subword-nmt's


@dataclass(frozen=True)
class Scores:
    """Corpus scores in percent (higher is better, but for ter) with what is needed to reproduce them.

    ``signature`` has an entry for each of the four scores, for example
    ``BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0``.
    """

    bleu: float  # 13a tokenisation, cased
    bleu_lowercased: float  # the same with -lc, as much of the literature reports it
    chrf: float
    ter: float  # edits per reference word: lower is better, over 100 is possible
    signature: dict[str, str]
    sentences: int
    references: int  # reference sets
    empty_hypotheses: int
    empty_references: int  # blank lines in all reference sets together

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, fit for JSON."""
        return asdict(self)


def measure(
    translate: Callable[[Sequence[str]], Sequence[str]], sources: Sequence[str], references: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """Translate a corpus and score it: the translations, and what there is to say about them, fit for JSON.

    To the fields of `Scores` come ``seconds`` and ``sentences_per_second``, the time of translating alone. Training
    and evaluation both report this. Raises UserError as `evaluate` does.
    """
    started = time.perf_counter()
    hypotheses = list(translate(sources))
    seconds = time.perf_counter() - started
    scores = evaluate(hypotheses, references)
    return hypotheses, scores.to_dict() | {"seconds": seconds, "sentences_per_second": len(hypotheses) / seconds}


def evaluate(hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]) -> Scores:
    """Score the translations of a corpus, line by line against one reference set or several.

    Several sets are given as a list of lists, one inner list a set (never one a sentence). Empty lines stay,
    an empty hypothesis costs brevity. Raises UserError where the numbers of lines differ or are zero.
    """
    from sacrebleu.metrics import BLEU, CHRF, TER

    sets = _reference_sets(references)
    _check_lengths(len(hypotheses), sets)
    _warn_of_subwords(hypotheses)
    metrics = {
        "bleu": BLEU(),
        "bleu_lowercased": BLEU(lowercase=True, force=True),
        "chrf": CHRF(),
        "ter": TER(),
    }
    results = {key: metric.corpus_score(hypotheses, sets) for key, metric in metrics.items()}
    return Scores(
        **{key: float(result.score) for key, result in results.items()},
        signature={key: f"{results[key].name}|{metric.get_signature()}" for key, metric in metrics.items()},
        sentences=len(hypotheses),
        references=len(sets),
        empty_hypotheses=_count_blank(hypotheses),
        empty_references=sum(map(_count_blank, sets)),
    )


def _reference_sets(references: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    if all(isinstance(reference, str) for reference in references):
        return [[str(reference) for reference in references]]
    return [list(reference_set) for reference_set in references]


def _check_lengths(hypotheses: int, sets: Sequence[Sequence[str]]) -> None:
    for number, reference_set in enumerate(sets, start=1):
        if len(reference_set) != hypotheses:
            which = f"reference set {number}" if len(sets) > 1 else "the reference"
            raise UserError(
                f"{hypotheses} translations but {len(reference_set)} lines in {which}: "
                "nothing was scored; give files whose lines belong together"
            )
    if hypotheses == 0:
        raise UserError("0 translations: there is nothing to score; give at least one line")


def _warn_of_subwords(hypotheses: Sequence[str]) -> None:
    """Say that scores of subword pieces mean nothing (sacreBLEU itself only notices tokenised full stops)."""
    marked = sum(any(mark in line for mark in _SUBWORD_MARKS) for line in hypotheses)
    if marked:
        _log.warning(
            "%d of %d translations hold subword marks ('▁' or '@@'): join them, BLEU expects plain text",
            marked,
            len(hypotheses),
        )


def _count_blank(lines: Sequence[str]) -> int:
    return sum(not line.strip() for line in lines)
