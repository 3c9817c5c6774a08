"""All that is known of every head in one report: what it is worth, what it looks at, and whether that explains much.

A measure is a function of a `Study` that gives some heads some numbers, and a `Column` says how one of them is shown.
Another measure takes one function in `report` and one line in `COLUMNS`.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from translator.alignment.gold import GoldLinks
from translator.alignment.reading import Reading
from translator.attention.heads import closing, gated
from translator.errors import at_least
from translator.inspection.heads.faithfulness import Faithfulness, faithfulness
from translator.inspection.heads.importance import importance
from translator.inspection.heads.names import Head, by_site, heads_of, places
from translator.inspection.heads.statistics import statistics
from translator.inspection.heads.study import Study
from translator.inspection.readings import links_by_reading
from translator.inspection.tables import aligned, number

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Column:
    """One figure of every head that has it."""

    key: str
    title: str
    digits: int
    meaning: str
    signed: bool = False

    def cell(self, value: float | None) -> str:
        """How the figure is written."""
        return number(value, self.digits, signed=self.signed)


COLUMNS = (
    Column("importance", "import.", 2, "|d loss / d gate|, mean over pairs; squares sum to 1 in a layer"),
    Column("loss_change", "loss", 3, "change of the loss when this head alone is removed, nats a target piece", True),
    Column("bleu_change", "BLEU", 2, "change of greedy BLEU when this head alone is removed", True),
    Column("entropy", "entropy", 2, "of its weights in nats: ln n where it looks at n pieces alike, 0 at one"),
    Column("distance", "dist.", 1, "mean distance in pieces to where it looks; across: |source - written target|"),
    Column("previous", "prev", 2, "weight on the piece one before the same place"),
    Column("same", "same", 2, "weight on the piece at the same place"),
    Column("next", "next", 2, "weight on the piece one after"),
    Column("punctuation", "punct", 2, "weight on punctuation"),
    Column("ends", "ends", 2, "weight on the source's end of sentence; in dec.self on the begin of sentence"),
    Column("most_alike", "alike", 2, "1 - Jensen-Shannon divergence (bits) to the most similar head there"),
    Column("aer", "AER", 2, "alignment error rate of the links between words that it alone gives, 0 to 1"),
    Column("erasure", "erase", 2, "Spearman: its weights and the fall of log p when a source word is hidden", True),
    Column("gradient", "grad", 2, "Spearman: its weights and |gradient x input| of source words", True),
)

WARNING = (
    "A head's weights are not an explanation (Jain & Wallace 2019; Serrano & Smith 2019; but see Wiegreffe & Pinter",
    "2019). Here they are tested: erase and grad say how well a head's order of the source words agrees with what",
    "hiding each word, or the gradient, says mattered: 1 the same order, 0 no relation, -1 the reverse; means over",
    "{words} target words of {pairs} of the model's own translations. Hiding and gradient agree at {agreement}.",
)


@dataclass(frozen=True)
class HeadReport:
    """Figures of all heads, and those of the whole model that changes are counted from."""

    sentences: int
    loss: float  # nats a target piece
    bleu: float  # greedy
    figures: dict[Head, dict[str, float]]
    similarity: dict[str, Tensor]  # of each site (H, H), see `statistics.similarity`
    faithful: Faithfulness

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; a figure that does not exist is left out."""
        numbers, similar, faithful = by_site(self.figures), self.similarity.items(), self.faithful
        agreement = _real({"erasure_with_gradient": faithful.agreement})
        return {
            "sentences": self.sentences,
            "loss": self.loss,
            "bleu": self.bleu,
            "heads": [{"head": str(head), **head._asdict(), **_real(of)} for head, of in self.figures.items()],
            "similarity": {s: {"heads": numbers.get(s, []), "matrix": m.tolist()} for s, m in similar},
            "faithfulness": {"pairs": faithful.pairs, "target_words": faithful.words, **agreement},
            "meaning": {column.key: column.meaning for column in COLUMNS},
        }

    def lines(self) -> list[str]:
        """The report for a terminal."""
        shown = [column for column in COLUMNS if any(column.key in of_head for of_head in self.figures.values())]
        rows = [[str(head), *(c.cell(of_head.get(c.key)) for c in shown)] for head, of_head in self.figures.items()]
        agreement = number(self.faithful.agreement, 2, signed=True)
        told = {"words": self.faithful.words, "pairs": self.faithful.pairs, "agreement": agreement}
        return [
            f"{len(self.figures)} heads on {self.sentences} sentences: loss {self.loss:.3f} nats a target piece, "
            f"greedy BLEU {self.bleu:.2f} with all of them",
            "",
            *aligned([["head", *(column.title for column in shown)], *rows]),
            "",
            *aligned([[column.title, "  " + column.meaning] for column in shown], right=lambda _: False),
            "BLEU of few sentences is coarse: read small changes as none.",
            "",
            *(line.format(**told) for line in WARNING),
        ]


def report(study: Study, explained: int, gold: GoldLinks | None = None) -> HeadReport:
    """Measure all heads; ``explained`` is the number of pairs on which weights are compared with other evidence.

    With ``gold`` it is known, too, how well each head of cross-attention aligns the words of those pairs. Takes a
    decoding of all sentences for each head, so it tells how far it is.
    """
    at_least("explain", explained, 0)
    looks, similar = statistics(study)
    faithful = faithfulness(study, explained)
    loss, bleu = study.loss(), study.bleu()
    weight = {head: {"importance": value} for head, value in importance(study).items()}
    measures = [weight, removal(study, loss, bleu), looks, most_alike(study, similar), faithful.heads]
    if gold is not None:
        measures.append(alignment_errors(study, gold))
    figures = {
        head: {key: value for measure in measures for key, value in measure.get(head, {}).items()}
        for head in heads_of(study.model)
    }
    return HeadReport(len(study.text), loss, bleu, figures, similar, faithful)


def removal(study: Study, loss: float, bleu: float) -> dict[Head, dict[str, float]]:
    """What happens to the loss and to BLEU when one head alone is closed, against what they are with all."""
    heads = heads_of(study.model)
    found = {}
    for count, head in enumerate(heads, 1):
        with gated(study.model, closing(study.model, by_site([head]))):
            found[head] = {"loss_change": study.loss() - loss, "bleu_change": study.bleu() - bleu}
        log.info("without %s, %d of %d: BLEU %+.2f", head, count, len(heads), found[head]["bleu_change"])
    return found


def most_alike(study: Study, similar: Mapping[str, Tensor]) -> dict[Head, dict[str, float]]:
    """How similar the most similar other head of the same layer is: near 1, one of the two is redundant."""
    found = {}
    for head, place in places(study.model).items():
        others = [value for other, value in enumerate(similar[head.site][place].tolist()) if other != place]
        if others:
            found[head] = {"most_alike": max(others)}
    return found


def alignment_errors(study: Study, gold: GoldLinks) -> dict[Head, dict[str, float]]:
    """The alignment error rate of every head of cross-attention, read alone, at the output step."""
    there = places(study.model).items()
    readings = {head: Reading.at(head.layer, [place]) for head, place in there if head.kind == "cross"}
    links = links_by_reading(study.translator, gold.sources, gold.targets, list(readings.values()))
    return {head: {"aer": gold.error(links[reading])} for head, reading in readings.items()}


def _real(figures: Mapping[str, float]) -> dict[str, float]:
    """Without NaN, which JSON does not know."""
    return {key: value for key, value in figures.items() if not math.isnan(value)}
