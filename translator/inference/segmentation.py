"""Lines as pieces, in parts that the model can take."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from translator.data.lines import is_blank
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError

log = logging.getLogger(__name__)

#: A run without a space or a comma that is longer than this is data, not language: split cuts it here, so that no
#: line costs more than its share of time.
LONGEST_WORD = 1000
_ENDLESS_WORD = re.compile(rf"([^\s.,;:!?…。、，；：！？]{{{LONGEST_WORD}}})[^\s.,;:!?…。、，；：！？]+")
_SENTENCE_END = re.compile(r"[.!?…。！？]['\"»”’)\]]*$")
_BOUNDARY = "\u2581"


@dataclass(frozen=True)
class Part:
    """A stretch of a line's pieces: ``ids`` without specials, the word of each, the number of pieces before it."""

    line: int
    ids: list[int]
    words: list[int]
    start: int = 0


def line_parts(text: str, line: int, tokenizer: Tokenizer, limit: int, on_long: str, number: int) -> list[Part]:
    """The parts of one line, each of at most ``limit`` pieces; nothing for a line without words that the model knows.

    ``line`` is the index that parts carry, ``number`` what messages call the line.

    Raises:
        UserError: the line is too long and ``on_long`` is "error".
    """
    if is_blank(text):
        return []
    whole = _encode(text, line, tokenizer)
    if tokenizer.unk_id in whole.ids and not tokenizer.decode(whole.ids):
        return []  # of characters never seen alone the model would make up a sentence
    length = len(whole.ids)
    if length <= limit:
        return [whole] if whole.ids else []
    told = f"line {number}: {length} pieces where {limit} are allowed"
    if on_long == "error":
        raise UserError(f"{told}; shorten it, raise --max-input-length, or use --on-long split")
    if on_long == "crop":
        log.warning("%s: cropped to the first %d", told, limit)
        return [_slice(whole, 0, limit)]
    shorter = _ENDLESS_WORD.sub(r"\1", text)
    if shorter != text:
        log.warning("line %d: words were cut to %d characters", number, LONGEST_WORD)
        whole = _encode(shorter, line, tokenizer)
    cuts = split_points(tokenizer.pieces(whole.ids), limit)
    log.warning("%s: translated in %d parts", told, len(cuts))
    return [_slice(whole, start, end) for start, end in zip([0, *cuts], cuts, strict=False)]


def split_points(pieces: Sequence[str], limit: int) -> list[int]:
    """Where parts end: the last end of a sentence within ``limit`` pieces, else the last space, else the limit.

    Two neighbours always hold more than ``limit`` pieces together, so their number is bounded.
    """
    ends: list[int] = []
    start = 0
    while len(pieces) - start > limit:
        spaces = [i for i in range(start + 1, start + limit + 1) if pieces[i].startswith(_BOUNDARY)]
        sentences = [i for i in spaces if _SENTENCE_END.search("".join(pieces[max(start, i - 3) : i]))]
        start = (sentences or spaces or [start + limit])[-1]
        ends.append(start)
    return [*ends, len(pieces)]


def _encode(text: str, line: int, tokenizer: Tokenizer) -> Part:
    ids, words = tokenizer.encode_with_words(text)
    return Part(line, ids, words)


def _slice(part: Part, start: int, end: int) -> Part:
    return Part(part.line, part.ids[start:end], part.words[start:end], start)
