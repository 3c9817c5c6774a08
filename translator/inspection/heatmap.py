"""A matrix of weights as text: source pieces across, target pieces down."""

from collections.abc import Sequence
from unicodedata import category, east_asian_width

from torch import Tensor

_THRESHOLDS = (0.1, 0.3, 0.5, 0.7)
_SHADES = " ░▒▓█"
LEGEND = "░ from 0.1, ▒ from 0.3, ▓ from 0.5, █ from 0.7"
_CELL = 2  # columns a cell: those of a wide character, so that headings fit in any script


def heatmap(weights: Tensor, rows: Sequence[str], columns: Sequence[str], width: int = 80) -> list[str]:
    """Lines that draw weights (rows, columns), each from 0 to 1, in at most ``width`` terminal columns.

    Headings are written downwards. What is too wide goes on below, with the rows named again.
    """
    names = [printable(name) for name in rows]
    margin = max(map(display_width, names)) + 1
    each = max(1, (width - margin) // _CELL)
    lines: list[str] = []
    for start in range(0, len(columns), each):
        heads = [" " * margin + line for line in _downwards(columns[start : start + each])]
        cells = ["".join(shade(w) * _CELL for w in row[start : start + each]) for row in weights.tolist()]
        indents = [" " * (margin - 1 - display_width(name)) for name in names]
        body = [f"{indent}{name} {line}" for indent, name, line in zip(indents, names, cells, strict=True)]
        lines += ["", *(line.rstrip() for line in (*heads, *body))]
    return lines[1:]


def shade(weight: float) -> str:
    """The block for a weight, see `LEGEND`; a space for less."""
    return _SHADES[sum(weight >= least for least in _THRESHOLDS)]


def printable(text: str) -> str:
    """The text with a dot for every character that shows nothing or could move the cursor."""
    return "".join(char if char.isprintable() else "·" for char in text)


def display_width(text: str) -> int:
    """Terminal columns of a text: wide characters take two, combining ones none."""
    return sum(0 if category(char) in ("Mn", "Me") else 1 + (east_asian_width(char) in "WF") for char in text)


def _downwards(names: Sequence[str]) -> list[str]:
    """Lines that show each name from top to bottom in a cell of its own, ending on the last line."""
    stacks = [_clusters(printable(name)) for name in names]
    height = max(map(len, stacks))
    filled = [[""] * (height - len(stack)) + stack for stack in stacks]
    return ["".join(char + " " * (_CELL - display_width(char)) for char in line) for line in zip(*filled, strict=True)]


def _clusters(text: str) -> list[str]:
    """Characters, each with the combining ones that follow it."""
    found: list[str] = []
    for char in text:
        if found and display_width(char) == 0:
            found[-1] += char
        else:
            found.append(char)
    return found
