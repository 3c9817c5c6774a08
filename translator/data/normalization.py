"""What a line looks like to the model: one Unicode form, every kind of white space one space.

Done here, in Python, and not in SentencePiece's rule tables, which delete some controls and keep others.
"""

import re
import unicodedata
from typing import Literal

from translator.data.lines import WORD_MARK

FORMS: dict[str, Literal["NFC", "NFKC"] | None] = {"nfc": "NFC", "nfkc": "NFKC", "none": None}
SPACES = {0: " ", ord(WORD_MARK): " "}  # read as white space here, though str.split doesn't know them
SURROGATE = re.compile("[\ud800-\udfff]")  # no text, but JSON can write them


def normalize(text: str, rule: str) -> str:
    """The text in the Unicode form of the rule; white space, NUL and U+2581 are single spaces; stripped.

    Lone surrogates, which are no text, become U+FFFD.
    """
    text = SURROGATE.sub("\ufffd", text)
    if form := FORMS[rule]:
        text = unicodedata.normalize(form, text)
    return single_spaced(text)


def single_spaced(text: str) -> str:
    """The text with each run of white space, of NUL and of U+2581 as one space, and none at the ends."""
    return " ".join(text.translate(SPACES).split())


def visible(text: str) -> str:
    """What a reader sees: kinds of white space and canonically equal spellings of a letter make no difference."""
    return " ".join(unicodedata.normalize("NFC", text).split())
