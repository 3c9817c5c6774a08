"""Models without the heads that they can do without: which to take, what is left, and what it costs."""

import copy
import logging
import statistics
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from translator.attention.heads import attentions
from translator.checkpoint import Bundle, save_bundle
from translator.errors import UserError
from translator.evaluation import evaluate
from translator.inference import Translator
from translator.inspection.columns import aligned, number
from translator.inspection.head_names import NAMES, Head, by_site
from translator.inspection.study import Study
from translator.model.transformer import Transformer
from translator.reading import Place, Reading

log = logging.getLogger(__name__)

SHARES = (1.0, 0.8, 0.6, 0.4, 0.2)
ROUNDS = 3  # decodings behind a median speed
BYTES = 4  # of a float32 number


@dataclass(frozen=True)
class Point:
    """A pruned model: which kinds of heads were taken from, how many of theirs are left, and what it does."""

    kinds: str  # all, enc.self, dec.self or dec.cross
    share: float  # asked for
    kept: int  # heads of these kinds that are left
    heads: int  # that there were
    bleu: float  # greedy
    sentences_per_second: float  # greedy, median
    parameters: int
    megabytes: float  # of the weights, in float32


def least_important(
    importance: Mapping[Head, float], keep: float, kinds: Collection[str] = tuple(NAMES), *, per_kind: bool = False
) -> list[Head]:
    """The heads to remove so that a share of them is kept, the most important ones; at least one is.

    ``kinds`` (encoder, decoder, cross) are taken together, or with ``per_kind`` keep their share each; heads of other
    kinds are neither counted nor removed.

    Raises:
        UserError: the share is not above 0 and at most 1.
    """
    check_share(keep)
    groups = [[kind] for kind in kinds] if per_kind else [list(kinds)]
    gone: set[Head] = set()
    for group in groups:
        ranked = sorted((head for head in importance if head.kind in group), key=lambda head: importance[head])
        kept = max(round(keep * len(ranked)), 1)
        gone |= set(ranked[: len(ranked) - kept])
    return [head for head in importance if head in gone]


def check_share(keep: float) -> None:
    """Raise UserError for a share that is not above 0 and at most 1."""
    if not 0.0 < keep <= 1.0:
        raise UserError(f"the share of heads to keep must be above 0 and at most 1, not {keep:g}")


def prune_bundle(bundle: Bundle, heads: Sequence[Head]) -> Bundle:
    """The bundle without these heads; the given one is left as it is.

    The place where alignments are read best is told by the heads' new places, or dropped with its last head.

    Raises:
        UserError: a head that is not there.
    """
    model = copy.deepcopy(bundle.model)
    model.prune_heads(by_site(heads))
    config = {**bundle.config, "model": model.config.to_dict()}
    reading = Reading.from_config(config.pop("alignment", None))
    if reading is not None and (places := _left(reading, bundle.model, model)):
        config["alignment"] = replace(reading, places=places).to_config()
    return replace(bundle, model=model, config=config)


def save_pruned(bundle: Bundle, directory: Path) -> None:
    """Write a bundle into a new folder.

    Raises:
        UserError: the folder exists, or cannot be made.
    """
    refuse_existing(directory)
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"cannot write {directory}: {error.strerror}") from error
    written = ("format", "model", "tokenizer")
    rest = {key: value for key, value in bundle.config.items() if key not in written}
    save_bundle(directory, bundle.model, bundle.tokenizer, **rest)


def refuse_existing(path: Path) -> None:
    """Raise UserError for a path that is taken."""
    if path.exists():
        raise UserError(f"{path} exists and is never overwritten: choose another place to write to")


def parameters(model: Transformer) -> int:
    """Numbers in a model; tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())


def curve(study: Study, importance: Mapping[Head, float]) -> list[Point]:
    """Remove the least important heads step by step, of each kind alone and of all together, and measure what is left.

    Every model is physically pruned from the whole one, so one decoding gives its BLEU (a closed head gives the same
    as a removed one) and its speed. Nothing is trained in between.
    """
    groups = {"all": tuple(NAMES), **{name: (kind,) for kind, name in NAMES.items()}}
    groups = {name: kinds for name, kinds in groups.items() if any(head.kind in kinds for head in importance)}
    study.translate()  # the first decoding is slower than all others
    points: list[Point] = []
    for name, kinds in groups.items():
        heads = sum(head.kind in kinds for head in importance)
        for share in SHARES:
            gone = least_important(importance, share, kinds)
            if share == 1.0 and points:
                points.append(replace(points[0], kinds=name, kept=heads, heads=heads))  # the whole model again
                continue
            points.append(Point(name, share, heads - len(gone), heads, **_measured(study, gone)))
            log.info("%s, %d of %d heads: BLEU %.2f", name, heads - len(gone), heads, points[-1].bleu)
    return points


def curve_lines(points: Sequence[Point], sentences: int) -> list[str]:
    """The curve as a table."""
    whole = points[0]
    rows = [["heads of", "kept", "BLEU", "change", "sent./s", "speed-up", "parameters", "MB"]]
    for point in points:
        rows.append(
            [
                point.kinds,
                f"{point.kept}/{point.heads}",
                number(point.bleu, 2),
                number(point.bleu - whole.bleu, 2, signed=True),
                number(point.sentences_per_second, 1),
                number(point.sentences_per_second / whole.sentences_per_second, 2),
                f"{point.parameters:,}",
                number(point.megabytes, 2),
            ]
        )
    return [
        *aligned(rows),
        "",
        f"{sentences} sentences, greedy, without further training; the least important heads go first.",
        "Speed also moves with what is written: a worse model writes more or less for the same sentence.",
    ]


def curve_values(points: Sequence[Point], sentences: int) -> dict[str, Any]:
    """The curve as plain values."""
    return {"sentences": sentences, "search": "greedy", "points": [asdict(point) for point in points]}


def _measured(study: Study, gone: Sequence[Head]) -> dict[str, Any]:
    """What a model without these heads does."""
    model = copy.deepcopy(study.model)
    model.prune_heads(by_site(gone))
    smaller = Study(Translator(model, study.translator.tokenizer), study.text)
    speeds = []
    hypotheses: list[str] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        hypotheses = smaller.translate()
        speeds.append(len(hypotheses) / (time.perf_counter() - began))
    return {
        "bleu": evaluate(hypotheses, study.text.targets).bleu,
        "sentences_per_second": statistics.median(speeds),
        "parameters": parameters(model),
        "megabytes": parameters(model) * BYTES / 1e6,
    }


def _left(reading: Reading, before: Transformer, after: Transformer) -> tuple[Place, ...]:
    """Where the heads of a reading stand now, those that are left."""
    places = []
    for layer, heads in reading.places:
        old, new = (attentions(model)[f"cross.{layer}"].kept for model in (before, after))
        left = tuple(new.index(old[head]) for head in heads if old[head] in new)
        places += [Place(layer, left)] if left else []
    return tuple(places)
