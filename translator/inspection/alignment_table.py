"""How well each place of a model aligns words: a table by layer, head and step, and what to compare it with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translator.alignment.error_rate import Links
from translator.alignment.gold import Gold
from translator.alignment.links import Link
from translator.alignment.reading import LayerHeads, Reading
from translator.alignment.statistical import align_both_ways, plain_diagonal
from translator.alignment.steps import ALIGN_STEPS
from translator.alignment.symmetrization import METHODS, flipped, symmetrize
from translator.bundle import read_config
from translator.errors import UserError
from translator.inference.translator import Translator
from translator.inspection.readings import links_by_reading, readings_of

Text = tuple[Sequence[str], Sequence[str]]  # sources, targets

_SHORT = {"aer": "AER", "precision": "P", "recall": "R", "accuracy": "right"}
_LEGEND = {
    "aer": "alignment error rate (AER), precision (P) and recall (R) of hard links between words, in %",
    "accuracy": "known target words whose links all go to the right source word, in %",
}
_WIDTH = 7
_PLACE = 12  # of layer and head
_GAP = 3  # between the figures of both steps


@dataclass(frozen=True)
class AlignmentTable:
    """Figures of every reading of a model, and of other links of the same pairs."""

    title: str
    readings: dict[Reading, dict[str, float]]
    others: dict[str, dict[str, float]]
    best: Reading

    def lines(self) -> list[str]:
        """For the terminal: a row a place, the figures of both steps side by side."""
        names = list(self.readings[self.best])
        heading = "".join(_SHORT[name].rjust(_WIDTH) for name in names)
        rows = {"": [f"{step} step" for step in ALIGN_STEPS], "layer  head": [heading for _ in ALIGN_STEPS]}
        for reading, rates in self.readings.items():
            rows.setdefault(_named(reading.places), []).append(_figures(rates))
        width = max(map(len, (heading, *rows[""]))) + _GAP
        longest = max(map(len, self.others), default=0)
        return [
            self.title,
            _LEGEND[names[0]],
            "",
            *(name.ljust(_PLACE) + "".join(cell.rjust(width) for cell in cells) for name, cells in rows.items()),
            "",
            *(f"{name:<{longest}}{_figures(rates)}" for name, rates in self.others.items()),
            "",
            f"best: {self.best}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "title": self.title,
            "readings": [reading.to_config() | rates for reading, rates in self.readings.items()],
            "others": [{"name": name} | rates for name, rates in self.others.items()],
            "best": self.best.to_config() | self.readings[self.best],
        }


def measure_alignments(
    translator: Translator,
    gold: Gold,
    *,
    reverse: Translator | None = None,
    method: str | None = None,
    aligner_text: Text | None = ((), ()),
) -> AlignmentTable:
    """Judge all readings of a model, the one it uses, the plain diagonal and a statistical aligner.

    ``reverse`` translates in the other direction: its links and those of both, made one by ``method`` (by every one
    there is), join the table. ``aligner_text`` is what the statistical aligner learns from beside the pairs themselves;
    with None it is left out. Raises UserError for an unknown method and for lines that the model cannot take.
    """
    readings = readings_of(translator.cross_heads())
    if not readings or not gold.sources:
        raise UserError("there are no heads of cross-attention to read from, or no pairs to read")
    pairs = gold.sources, gold.targets
    found = links_by_reading(translator, *pairs, readings)
    forward: Links = [alignment.links for alignment in translator.align(*pairs)]
    others = {f"default ({translator.default_reading()})": forward}
    if reverse is not None:
        backward = flipped(alignment.links for alignment in reverse.align(gold.targets, gold.sources))
        others["reverse model"] = backward
        for each in METHODS if method is None else [method]:
            others[f"both, {each}"] = _symmetrized(forward, backward, each)
    others["plain diagonal"] = plain_diagonal(*pairs)
    if aligner_text is not None:
        forward, backward = align_both_ways(*pairs, aligner_text)
        others["statistical aligner"] = forward
        others["statistical aligner, grow-diag"] = _symmetrized(forward, backward, "grow-diag")
    return AlignmentTable(
        title=gold.describe(),
        readings={reading: gold.rate(links) for reading, links in found.items()},
        others={name: gold.rate(links) for name, links in others.items()},
        best=min(found, key=lambda reading: gold.error(found[reading])),
    )


def check_reverse(directory: Path, reverse: Path) -> None:
    """Raise UserError unless one bundle translates back what the other translates."""
    here, there = read_config(directory), read_config(reverse)
    if (here["source"], here["target"]) != (there["target"], there["source"]):
        pair = f"{there['source']} to {there['target']}"
        raise UserError(f"{reverse} translates {pair}; needed is {here['target']} to {here['source']}")


def _symmetrized(forward: Links, backward: Links, method: str) -> list[list[Link]]:
    return [symmetrize(one, other, method) for one, other in zip(forward, backward, strict=True)]


def _named(places: Sequence[LayerHeads]) -> str:
    """A layer and a head of it, or the mean of all heads of a layer, or of several."""
    first, last = places[0].layer, places[-1].layer
    layers = str(first) if first == last else f"{first}-{last}"
    heads = str(*places[0].heads) if len(places) == 1 == len(places[0].heads) else "mean"
    return f"{layers:<7}{heads}"


def _figures(rates: dict[str, float]) -> str:
    return "".join(f"{100 * rate:{_WIDTH}.1f}" for rate in rates.values())
