"""Where sentences end: for cutting a line into what a model can translate at once.

Rules of our own and no package, so that translating takes none beyond torch, sentencepiece and safetensors. They rather
miss an end than see one where there is none: two sentences in one segment are the lesser harm.
"""

import re
from collections.abc import Iterator

#: What may follow the mark that ends a sentence.
CLOSING = "'\"»«”“’‘)\\]」』"
#: Marks that end a sentence where spaces are written, and where they are not.
_SPACED, _UNSPACED = ".!?…؟।", "。！？"
_END = re.compile(rf"(?P<word>\S*?)[{_SPACED}]+[{CLOSING}]*(?=\s)|[{_UNSPACED}]+[{CLOSING}]*")
_OPENING = "'\"«„“‘‚(\\[「『¿¡-–—"
#: A sentence begins with anything but a small letter, perhaps behind an opening mark.
_BEGIN = re.compile(rf"\s+[{_OPENING}\s]*(?P<first>\S)")
#: Words that take a full stop before names, numbers or German nouns; those of single letters are `_INITIALS`.
_SHORT = "mr mrs ms dr prof vs jr cf nr hr fr bzw ca evtl ggf inkl usw vgl"
_INITIALS = re.compile(r"(?:\w\.)*\w", re.UNICODE)  # J. S. Bach, U.S., z.B.
_ORDINAL = re.compile(r"\d{1,2}")  # am 3. Oktober


def sentence_ends(text: str) -> list[int]:
    """The positions behind the last mark of each sentence that something follows, ascending."""
    ends = [0]
    for match in _END.finditer(text):
        spoken = any(map(str.isalnum, text[ends[-1] : match.end()]))
        if spoken and text[match.end() :].strip() and _ends(text, match):
            ends.append(match.end())
    return ends[1:]


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, without the white space between them."""
    start = 0
    for end in [*sentence_ends(text), len(text)]:
        stretch = text[start:end]
        yield start + len(stretch) - len(stretch.lstrip()), start + len(stretch.rstrip())
        start = end


def _ends(text: str, match: re.Match[str]) -> bool:
    word = match["word"]
    if word is None:  # a mark of a script without spaces is never part of a word
        return True
    following = _BEGIN.match(text, match.end())
    if following is None or following["first"].islower():
        return False
    if text[match.end("word")] != ".":
        return True
    word = word.lstrip("".join(set(_OPENING + CLOSING)))
    return not (word.lower() in _SHORT.split() or _INITIALS.fullmatch(word) or _ORDINAL.fullmatch(word))
