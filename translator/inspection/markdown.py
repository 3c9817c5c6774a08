"""Tables of a page in Markdown."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], rule: str | None = None) -> list[str]:
    """Lines of a table; ``rule``, the line below the head, says how columns are aligned (plain: to the left)."""
    under = "|" + "---|" * len(head) if rule is None else rule
    return [_line(head), under, *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
