"""The first stage: a line of text -> segments that the model can take, each cut where it hurts least."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from translator.data.lines import is_blank
from translator.data.normalization import SPACES
from translator.errors import UserError

log = logging.getLogger(__name__)

#: Pieces of a text.
Measure = Callable[[str], int]

#: A run without a space or a comma that is longer than this is data, not language: split cuts it here, so that no
#: line costs more than its share of time.
LONGEST_WORD = 1000
_ENDLESS_WORD = re.compile(rf"([^\s.,;:!?…。、，；：！？]{{{LONGEST_WORD}}})[^\s.,;:!?…。、，；：！？]+")
_CLOSING = r"['\"»”’)\]」』]*"
#: What stands between two places where a line may be cut: a word, or where no spaces are written a sentence.
_UNIT = re.compile(rf"\S+?(?:[。！？]+{_CLOSING}|(?=\s)|$)")
_SENTENCE_END = re.compile(rf"[.!?…。！？]{_CLOSING}$")
_WORD_START = re.compile(r"(?<![^ \t])[^ \t]")


@dataclass(frozen=True)
class Segment:
    """A stretch of a line, and the number of the line's word (counted at spaces and tabs, from 0) that it begins in."""

    text: str
    first_word: int = 0


def segment(text: str, measure: Measure, limit: int, on_long: str, number: int) -> list[Segment]:
    """The segments of a line, each of at most ``limit`` pieces by ``measure``; none of a blank line.

    What is longer is treated as ``on_long`` says: "split", "crop" or "error". Messages call the line ``number``.

    Raises:
        UserError: the line is too long and ``on_long`` is "error".
    """
    if is_blank(text):
        return []
    length = measure(text)
    if length <= limit:
        return [Segment(text)]
    told = f"line {number}: {length} pieces where {limit} are allowed"
    if on_long == "error":
        raise UserError(f"{told}; shorten it, raise --max-input-length, or use --on-long split")
    shorter = _ENDLESS_WORD.sub(r"\1", text)
    if shorter != text:
        log.warning("line %d: words were cut to %d characters", number, LONGEST_WORD)
    units = _units(shorter, measure, limit)
    sizes = [measure(shorter[start:end]) for start, end in units]
    if on_long == "crop":
        cuts = [sum(total <= limit for total in accumulate(sizes))]
        log.warning("%s: cropped to the first %d", told, sum(sizes[: cuts[0]]))
    else:
        cuts = split_points(sizes, [_SENTENCE_END.search(shorter[:end]) is not None for _, end in units], limit)
        log.warning("%s: translated in %d parts", told, len(cuts))
    spans = [(units[first][0], units[last - 1][1]) for first, last in pairwise([0, *cuts])]
    words = [match.start() for match in _WORD_START.finditer(shorter)]
    return [Segment(shorter[a:b], sum(start <= a for start in words) - 1) for a, b in spans]


def split_points(sizes: Sequence[int], ends_sentence: Sequence[bool], limit: int) -> list[int]:
    """After which units segments end: the last end of a sentence within ``limit`` pieces, else the last that fits.

    ``sizes`` are in pieces, none above the limit. Two neighbours always hold more than ``limit`` pieces together, so
    their number is bounded.
    """
    totals = [0, *accumulate(sizes)]
    cuts = [0]
    while totals[-1] - totals[cuts[-1]] > limit:
        start = cuts[-1]
        fitting = [i for i in range(start + 1, len(totals)) if totals[i] - totals[start] <= limit]
        cuts.append(([i for i in fitting if ends_sentence[i - 1]] or fitting)[-1])
    return [*cuts[1:], len(sizes)]


def _units(text: str, measure: Measure, limit: int) -> list[tuple[int, int]]:
    """Start and end of each unit; one of more than ``limit`` pieces is cut anywhere."""
    units: list[tuple[int, int]] = []
    for match in _UNIT.finditer(text.translate(SPACES)):
        start, end = match.span()
        while start < end:
            stop = end
            while measure(text[start:stop]) > limit and stop > start + 1:
                stop = start + max(1, (stop - start) * limit // measure(text[start:stop]))
            units.append((start, stop))
            start = stop
    return units
