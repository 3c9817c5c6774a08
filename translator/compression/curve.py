"""What a model loses with its heads, and what it gains: quality, speed and size against the share that is kept."""

import copy
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from translator.attention.heads import closing, gated
from translator.compression.pruning import least_important
from translator.evaluation import evaluate
from translator.inference.translator import Translator
from translator.inspection.heads.names import NAMES, Head, by_site
from translator.inspection.heads.study import GREEDY, Study
from translator.inspection.tables import aligned
from translator.model.costs import BYTES

log = logging.getLogger(__name__)

Cut = tuple[Head, ...]  # the heads that a model goes without
SHARES = (1.0, 0.8, 0.6, 0.4, 0.2)
ROUNDS = 3  # decodings of which the fastest counts: what else the machine does can only slow them


@dataclass(frozen=True)
class Point:
    """A pruned model: which kinds of heads were taken from, how many of theirs are left, and what it does."""

    kinds: str  # all, enc.self, dec.self or dec.cross
    share: float  # asked for
    kept: int  # heads of these kinds that are left
    heads: int  # that there were
    bleu: float  # greedy
    gated_bleu: float  # of the whole model with these heads closed by gates of zero
    pieces_per_second: float  # target pieces, greedy
    parameters: int
    megabytes: float  # of the weights, in float32


def curve(study: Study, importance: Mapping[Head, float]) -> list[Point]:
    """Remove the least important heads step by step, of each kind alone and of all together, and measure what is left.

    Every model is physically pruned from the whole one. A closed head should give what a removed one gives, so the
    whole model is decoded with closed heads as well. Nothing is trained in between.
    """
    groups = {"all": tuple(NAMES), **{name: (kind,) for kind, name in NAMES.items()}}
    counts = {name: sum(head.kind in kinds for head in importance) for name, kinds in groups.items()}
    cuts = [
        (name, share, tuple(least_important(importance, share, groups[name])))
        for name, share in product(groups, SHARES)
        if counts[name]
    ]
    study.translate()  # the first decoding is slower than all others
    figures = _measured(study, list(dict.fromkeys(gone for _, _, gone in cuts)))  # the whole model once
    return [Point(name, share, counts[name] - len(gone), counts[name], **figures[gone]) for name, share, gone in cuts]


def curve_lines(points: Sequence[Point], sentences: int) -> list[str]:
    """The curve as a table."""
    whole, difference = points[0], max(abs(point.bleu - point.gated_bleu) for point in points)
    head = ["heads of", "kept", "BLEU", "change", "pieces/s", "speed-up", "parameters", "MB"]
    rows = [
        [
            p.kinds, f"{p.kept}/{p.heads}", f"{p.bleu:.2f}", f"{p.bleu - whole.bleu:+.2f}",
            f"{p.pieces_per_second:.0f}",
            f"{p.pieces_per_second / whole.pieces_per_second:.2f}", f"{p.parameters:,}", f"{p.megabytes:.2f}",
        ]
        for p in points
    ]  # fmt: skip
    return [
        *aligned([head, *rows]),
        "",
        f"{sentences} sentences, greedy, without further training; the least important heads go first.",
        "Speed also moves with what is written: a sentence that does not end is decoded alone in the end.",
        f"With these heads closed by gates of zero instead, BLEU differs by {difference:.2f} at most.",
    ]


def curve_values(points: Sequence[Point], sentences: int) -> dict[str, Any]:
    """The curve as plain values."""
    return {"sentences": sentences, "search": "greedy", "points": [asdict(point) for point in points]}


def _measured(study: Study, cuts: Sequence[Cut]) -> dict[Cut, dict[str, Any]]:
    """What the model does without the heads of each cut.

    All are decoded in turn, several times, so that a machine that is busy for a while slows all of them alike.
    """
    figures: dict[Cut, dict[str, Any]] = {gone: {"pieces_per_second": 0.0} for gone in cuts}
    for turn, (count, gone) in product(range(1, ROUNDS + 1), enumerate(cuts, 1)):
        model, of_cut = copy.deepcopy(study.model), figures[gone]
        model.prune_heads(by_site(gone))
        began = time.perf_counter()
        found = Translator(model, study.translator.tokenizer).translate_lines(study.text.sources, GREEDY)
        speed = sum(len(one.tokens) for one in found) / (time.perf_counter() - began)
        of_cut["pieces_per_second"] = max(speed, of_cut["pieces_per_second"])
        if turn == 1:
            of_cut["bleu"] = evaluate([one.text for one in found], study.text.targets).bleu
            with gated(study.model, closing(study.model, by_site(gone))):
                of_cut["gated_bleu"] = study.bleu()
            of_cut |= {"parameters": model.n_parameters, "megabytes": model.n_parameters * BYTES / 1e6}
        log.info("round %d of %d, model %d of %d: BLEU %.2f", turn, ROUNDS, count, len(cuts), of_cut["bleu"])
    return figures
