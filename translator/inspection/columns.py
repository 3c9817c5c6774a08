"""Rows of text as lines with aligned columns."""

import math
from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], *, right: bool = True) -> list[str]:
    """The first column flush left, all others flush right (or left, too); rows are of equal length."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (
            cell.rjust(width) if right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return lines


def number(value: float | None, digits: int, *, signed: bool = False) -> str:
    """A number with so many decimals; - for one that does not exist (None or NaN)."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
