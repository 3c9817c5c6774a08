"""The first stage: a line of text -> segments that the model can take, each cut where it hurts least."""

import logging
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from translator.data.lines import is_blank
from translator.data.normalization import SPACES
from translator.errors import UserError
from translator.inference.sentences import CLOSING, sentences

log = logging.getLogger(__name__)

#: Pieces of a text.
Measure = Callable[[str], int]
Span = tuple[int, int]

#: A run without a space or a comma that is longer than this is data, not language: split cuts it here, so that no
#: line costs more than its share of time.
LONGEST_WORD = 1000
_ENDLESS_WORD = re.compile(rf"([^\s.,;:!?…。、，；：！？]{{{LONGEST_WORD}}})[^\s.,;:!?…。、，；：！？]+")
#: What stands between two places where a line may be cut: a word, or where no spaces are written a sentence.
_UNIT = re.compile(rf"\S+?(?:[。！？]+[{CLOSING}]*|(?=\s)|$)")
_SENTENCE_END = re.compile(rf"[.!?…。！？][{CLOSING}]*$")
_CLAUSE_END = re.compile(rf"[,;:、，；：–—][{CLOSING}]*$")
_WORD_START = re.compile(r"(?<![^ \t])[^ \t]")


@dataclass(frozen=True)
class Limits:
    """What goes through the model at once: so many pieces.

    A line of more sentences than the model knows lines to have is cut at each of them; None: no number is too large.
    """

    pieces: int
    sentences: int | None = None

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Limits | None":
        """What a bundle's config.json says that training saw; None where it says nothing."""
        lengths = config.get("lengths")
        return None if lengths is None else cls(lengths["source_pieces"], lengths["source_sentences"])


@dataclass(frozen=True)
class Segment:
    """A stretch of a line.

    ``first_word`` is the number of the line's word (counted at spaces and tabs, from 0) that it begins in; ``before``
    is the white space between it and the segment before it.
    """

    text: str
    first_word: int = 0
    before: str = ""


def segment(text: str, measure: Measure, limits: Limits, on_long: str, number: int) -> list[Segment]:
    """The segments of a line, each within the limits by ``measure``; none of a blank line.

    Sentences that have more pieces than the limit are treated as ``on_long`` says: "split", "crop" or "error".
    Messages call the line ``number``.

    Raises:
        UserError: a sentence is too long and ``on_long`` is "error".
    """
    if is_blank(text):
        return []
    if limits.sentences is None and measure(text) <= limits.pieces:
        return [Segment(text)]
    if on_long != "error":
        shorter = _ENDLESS_WORD.sub(r"\1", text)
        if shorter != text:
            log.warning("line %d: words were cut to %d characters", number, LONGEST_WORD)
        text = shorter
    spans: list[Span] = []
    for start, end in _stretches(text, limits.sentences):
        length = measure(text[start:end])
        if length <= limits.pieces:
            spans.append((start, end))
            continue
        told = f"line {number}: {length} pieces where {limits.pieces} are allowed"
        if on_long == "error":
            raise UserError(f"{told}; shorten it, raise --max-input-length, or use --on-long split")
        parts = _split(text, (start, end), measure, limits.pieces)
        log.warning("%s: %s", told, "cropped" if on_long == "crop" else f"translated in {len(parts)} parts")
        spans += parts[:1] if on_long == "crop" else parts
    words = [match.start() for match in _WORD_START.finditer(text)]
    ends = [spans[0][0], *(end for _, end in spans)]
    return [
        Segment(text[a:b], bisect_right(words, a) - 1, text[end:a]) for (a, b), end in zip(spans, ends, strict=False)
    ]


def split_points(sizes: Sequence[int], grades: Sequence[int], limit: int) -> list[int]:
    """After which units segments end: the last end of a sentence within ``limit`` pieces, else the last that fits.

    An end of a clause is preferred to a mere word where it leaves a segment of more than half the limit. ``sizes`` are
    in pieces, none above the limit; ``grades`` are 2 where a sentence ends, 1 where a clause does, else 0.
    """
    totals = [0, *accumulate(sizes)]
    cuts = [0]
    while totals[-1] - totals[cuts[-1]] > limit:
        start = cuts[-1]
        fitting = [i for i in range(start + 1, len(totals)) if totals[i] - totals[start] <= limit]
        cuts.append(max(fitting, key=lambda i: (_worth(grades[i - 1], totals[i] - totals[cuts[-1]], limit), i)))
    return [*cuts[1:], len(sizes)]


def _worth(grade: int, size: int, limit: int) -> int:
    return grade if grade == 2 or 2 * size > limit else 0


def _stretches(text: str, most: int | None) -> list[Span]:
    """The line, or each of its sentences where they are too many: those of two lines put together do not fit."""
    found = [(0, len(text))] if most is None else list(sentences(text))
    return found if most is None or len(found) > most else [(found[0][0], found[-1][1])]


def _split(text: str, span: Span, measure: Measure, limit: int) -> list[Span]:
    """Parts of at most ``limit`` pieces: cut at ends of sentences, else of clauses, else of words, else anywhere."""
    units = _units(text, span, measure, limit)
    sizes = [measure(text[start:end]) for start, end in units]
    cuts = split_points(sizes, [_grade(text[start:end]) for start, end in units], limit)
    return [(units[first][0], units[last - 1][1]) for first, last in pairwise([0, *cuts])]


def _grade(unit: str) -> int:
    """How good a place it is to cut behind a unit."""
    return 2 if _SENTENCE_END.search(unit) else 1 if _CLAUSE_END.search(unit) else 0


def _units(text: str, span: Span, measure: Measure, limit: int) -> list[Span]:
    """Start and end of each unit; one of more than ``limit`` pieces is cut anywhere."""
    units: list[Span] = []
    for match in _UNIT.finditer(text.translate(SPACES), *span):
        start, end = match.span()
        while start < end:
            stop = end
            while measure(text[start:stop]) > limit and stop > start + 1:
                stop = start + max(1, (stop - start) * limit // measure(text[start:stop]))
            units.append((start, stop))
            start = stop
    return units
