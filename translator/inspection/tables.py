"""Tables of text: aligned columns for the terminal, and Markdown for pages."""

import math
from collections.abc import Callable, Iterable, Sequence


def aligned(rows: Iterable[Sequence[str]], right: Callable[[Sequence[str]], bool] = lambda _column: True) -> list[str]:
    """Rows of equal length as lines: the first column flush left, the others flush right where ``right`` says so."""
    columns = []
    for place, column in enumerate(zip(*rows, strict=True)):
        width = max(map(len, column))
        columns.append([cell.rjust(width) if place and right(column) else cell.ljust(width) for cell in column])
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def number(value: float | None, digits: int, *, signed: bool = False) -> str:
    """A number with so many decimals; - for one that does not exist (None or NaN)."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:{'+' if signed else ''}.{digits}f}"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], rule: str | None = None) -> list[str]:
    """Lines of a table; ``rule``, the line below the head, says how columns are aligned (plain: to the left)."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return [first, rule or "|" + "---|" * len(head), *others]
