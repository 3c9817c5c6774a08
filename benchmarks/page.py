"""Rows of figures as the tables of a page. What people wrote around the tables stays as it is."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables import Row, markdown
from translator.device import counted, in_words
from translator.errors import UserError

TITLES = {
    "train": "Training",
    "decode": "Translating",
    "growth": "What an output token costs",
    "kinds": "Kinds of attention",
    "attention": "Attention",
    "peers-train": "Training, beside other programs",
    "peers-decode": "Translating, beside other programs",
}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines; blank lines are skipped.

    Raises:
        UserError: the file cannot be read, or a line is not a row; names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    return [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def page(text: str, rows: Sequence[Row], pictures: Mapping[str, str] | None = None) -> str:
    """The page with the measured part of each kind of row that is there written anew; others are left alone.

    A measured part stands between ``<!-- measured: KIND -->`` and ``<!-- end: KIND -->``; a page that has no such
    place for a kind gets one at its end. ``pictures`` maps kinds to paths, seen from the page.
    """
    for kind, title in TITLES.items():
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            path = (pictures or {}).get(kind)
            picture = [f"![{title}]({path})", ""] if path else []
            text = _replaced(text, kind, title, "\n".join([*picture, *section(kind, of_kind)]))
    return text


def section(kind: str, rows: Sequence[Row]) -> list[str]:
    """The table of one kind of rows, and how they were measured, as lines of Markdown."""
    return [*markdown(kind, rows), "", *provenance(rows)]


def provenance(rows: Sequence[Row]) -> list[str]:
    """The commands behind the figures, and what they ran on; of programs that share a command, all versions."""
    of_command: dict[str, list[Row]] = {}
    for row in rows:
        of_command.setdefault(str(row.get("command")), []).append(row)
    lines = []
    for command, found in of_command.items():
        versions = {name: version for row in found for name, version in row.get("versions", {}).items()}
        places = dict.fromkeys(_where({**row, "versions": versions}) for row in found)
        lines += [f"- `{command}`: {where}" for where in places]
    return lines


def _where(row: Row) -> str:
    medians = [f"median of {counted(row[unit], unit[:-1])}" for unit in ("rounds", "turns") if unit in row]
    return ", ".join(filter(None, [*medians, in_words(row)]))


def _replaced(text: str, kind: str, title: str, content: str) -> str:
    begin, end = f"<!-- measured: {kind} -->", f"<!-- end: {kind} -->"
    measured = f"{begin}\n{content}\n{end}"
    if begin not in text:
        return f"{text.rstrip()}\n\n## {title}\n\n{measured}\n".lstrip()
    if end not in text:
        raise UserError(f"the page has {begin} but no {end}: put it where the measured part ends")
    return re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: measured, text, flags=re.DOTALL)


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UserError(f"{where}: not JSON ({error})") from error
    if not isinstance(row, dict) or row.get("kind") not in TITLES:
        raise UserError(f"{where}: not a row of this program (kind must be one of {', '.join(TITLES)})")
    return row
