"""Fonts for pictures of text in any script."""

import logging
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

log = logging.getLogger(__name__)

USUAL = "DejaVu Sans"  # comes with matplotlib
_BOXES = "Last Resort"  # so does this: a box for every character that there is
_ADVICE = "install fonts such as Noto (on Debian fonts-noto-core; Chinese, Japanese, Korean: fonts-noto-cjk)"


def font_families(text: str) -> list[str]:
    """The usual font, and as many installed ones as it takes for the characters that it lacks.

    What no font has is told in one warning, an example of each script.
    """
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    families = [USUAL]
    missing = set(map(ord, text)) - FT2Font(font_manager.findfont(USUAL)).get_charmap().keys()
    missing = {code for code in missing if chr(code).isprintable()}
    for entry in _installed() if missing else ():
        found = missing & FT2Font(entry.fname).get_charmap().keys()
        if found and entry.style == "normal" and not entry.name.startswith(_BOXES):
            families.append(entry.name)
            missing -= found
        if not missing:
            break
    if missing:
        log.warning("no installed font shows %s: the picture has boxes there; %s", _examples(missing), _ADVICE)
    return families


def _installed() -> Iterator[Any]:
    """Entries of all fonts: those that matplotlib knows, then those installed since it last wrote its list."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    known = sorted(manager.ttflist, key=lambda entry: (entry.name, entry.fname))  # not as directories list them
    yield from known
    for path in sorted(set(font_manager.findSystemFonts()) - {entry.fname for entry in known}):
        with suppress(OSError, RuntimeError):  # broken, or of pixels alone
            manager.addfont(path)
            yield manager.ttflist[-1]


def _examples(codes: Collection[int]) -> str:
    """The first character of each script, as in ``CJK (你), THAI (ก)``."""
    first: dict[str, str] = {}
    for char in map(chr, sorted(codes)):
        letter = unicodedata.category(char)[0] in "LM"
        first.setdefault(unicodedata.name(char, "?").split()[0] if letter else "symbols", char)
    return ", ".join(f"{script} ({char})" for script, char in first.items())
