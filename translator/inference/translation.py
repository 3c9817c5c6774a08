"""What translating a line gives."""

from dataclasses import dataclass, field, replace

from translator.alignment.links import Link


@dataclass(frozen=True)
class Translation:
    """One line's translation.

    ``score`` is sum log p / length ** length_penalty, the end of sentence counted in both; of a line that was split
    it is the mean over its parts; of a blank line 0. ``tokens`` are the pieces that were produced. ``alignment``
    holds (source, target) links when they were asked for, ``weights`` their attention weights. ``finished`` is False
    where the output was cut at the length limit. ``n_best`` lists the best candidates, best first, this one included;
    they differ as token sequences (two may read the same), and are fewer than asked for where the search found fewer.
    """

    text: str
    score: float
    tokens: list[str]
    alignment: list[Link] | None = None
    n_best: list["Translation"] = field(default_factory=list)
    weights: list[float] | None = None
    finished: bool = True


def blank(aligned: bool) -> Translation:
    """The translation of a line without words."""
    empty = Translation("", 0.0, [], [] if aligned else None, weights=[] if aligned else None)
    return replace(empty, n_best=[empty])
