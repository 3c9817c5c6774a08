"""What the commands that look into checkpoints share: where their figures go."""

import json
from collections.abc import Mapping
from typing import Any

from translator.cli.streams import LineWriter


def write_file(path: str, lines: list[str]) -> None:
    """Write whole lines, gzipped if so named; raises UserError as `LineWriter`."""
    writer = LineWriter(path)
    writer.write(lines)
    writer.close()


def table_or_json(lines: list[str], values: Mapping[str, Any], path: str | None) -> list[str]:
    """What is printed: a table, or the figures as JSON where ``path`` is ``-``; any other path gets them as a file."""
    written = json.dumps(values, ensure_ascii=False)
    if path == "-":
        return [written]
    if path:
        write_file(path, [written])
    return lines
