"""Rows of figures as the tables of a page. What people wrote around the tables stays as it is."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import exponent
from benchmarks.memory import MEGABYTE
from translator.device import counted, in_words
from translator.errors import UserError

Row = Mapping[str, Any]
Table = Sequence[Sequence[str]]

TITLES = {
    "train": "Training",
    "decode": "Translating",
    "growth": "What an output token costs",
    "kinds": "Kinds of attention",
    "attention": "Attention",
    "peers-train": "Training, beside other programs",
    "peers-decode": "Translating, beside other programs",
}
#: What tells one series of lengths from another.
SERIES = ("model", "cache", "batch", "beam", "kv_heads", "precision")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines; blank lines are skipped.

    Raises:
        UserError: the file cannot be read, or a line is not a row; names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            rows.append(_row(line, f"{path}, line {number}"))
    return rows


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
    """The tables of one kind of rows, and how they were measured, as lines of Markdown."""
    tables: dict[str, Callable[[Sequence[Row]], Table]] = {
        "train": train_table,
        "decode": decode_table,
        "growth": growth_table,
        "kinds": kinds_table,
        "attention": attention_table,
        "peers-train": peers_table,
        "peers-decode": peers_table,
    }
    return [*markdown(tables[kind](rows)), "", *provenance(rows)]


def train_table(rows: Sequence[Row]) -> Table:
    """A row a model and precision."""
    head = ("model", "parameters", "precision", "tokens/s", "(slowest, fastest round)", "pairs/s", "padding", "peak MB",
            "of it before")  # fmt: skip
    return [
        head,
        *(
            (
                row["model"], f"{row['parameters']:,}", row["precision"], number(row["tokens_per_second"]),
                extremes(row, "tokens_per_second"), number(row["sentences_per_second"]), f"{row['padding']:.1%}",
                number(row["peak_mb"]), number(row["baseline_mb"]),
            )
            for row in rows
        ),
    ]  # fmt: skip


def decode_table(rows: Sequence[Row]) -> Table:
    """A row a way to translate; the last column says whether all ways of one search wrote the same."""
    head = ("checkpoint", "beam", "batch", "cache", "precision", "sentences/s", "(slowest, fastest round)", "tokens/s",
            "padding", "peak MB", "of it before", "outputs")  # fmt: skip
    return [
        head,
        *(
            (
                Path(row["checkpoint"]).name, str(row["beam"]), str(row["batch"]), _on(row["cache"]), row["precision"],
                number(row["sentences_per_second"]), extremes(row, "sentences_per_second"),
                number(row["tokens_per_second"]), f"{row['padding']:.1%}", number(row["peak_mb"]),
                number(row["baseline_mb"]), row["outputs"][:6],
            )
            for row in rows
        ),
    ]  # fmt: skip


def growth_table(rows: Sequence[Row]) -> Table:
    """A row a series, a column a length; the exponent says how a token's cost grows with the length of the output."""
    lengths = sorted({row["length"] for row in rows})
    table = [("model", "cache", "batch", "beam", "kv heads", *(f"ms at {n}" for n in lengths), "exponent",
              "state bytes a token", "source bytes")]  # fmt: skip
    for of_series in series(rows):
        first, by_length = of_series[0], {row["length"]: row for row in of_series}
        costs = [number(by_length[n]["ms_per_token"]) if n in by_length else "" for n in lengths]
        power = exponent([row["length"] for row in of_series], [row["ms_per_token"] for row in of_series])
        table.append((
            first["model"], _on(first["cache"]), str(first["batch"]), str(first["beam"]), str(first["kv_heads"]),
            *costs, f"{power:.2f}", number(first["state_bytes_per_token"]), number(first["source_bytes"]),
        ))  # fmt: skip
    return table


def series(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows of `growth` that differ in length alone, each series in the order of lengths, series as they came."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in SERIES), []).append(row)
    return [sorted(of_series, key=lambda row: row["length"]) for of_series in found.values()]


def kinds_table(rows: Sequence[Row]) -> Table:
    """A row a kind of attention; ratios are to the first kind of the same run."""
    head = ("model", "attention", "parameters", "batch", "beam", "tokens", "tokens/s", "ratio",
            "(least, most of the rounds)", "state bytes a token", "source bytes")  # fmt: skip
    return [
        head,
        *(
            (
                row["model"], row["attention"], f"{row['parameters']:,}", str(row["batch"]), str(row["beam"]),
                str(row["length"]), number(row["tokens_per_second"]), f"{row['ratio']:.2f}",
                f"{row['ratio_min']:.2f} to {row['ratio_max']:.2f}",
                number(row["state_bytes"] / (row["batch"] * row["beam"] * row["length"])), number(row["source_bytes"]),
            )
            for row in rows
        ),
    ]  # fmt: skip


def peers_table(rows: Sequence[Row]) -> Table:
    """A row a program; ratios are of medians over turns in which our fastest and theirs ran one after the other."""
    head = ("program", "setting", "rate", "(slowest, fastest turn)", "our fastest / it", "peak MB", "same outputs",
            "BLEU")  # fmt: skip
    return [
        head,
        *(
            (
                row["program"], row["setting"], f"{number(row['rate'])} {row['unit']}", extremes(row, "rate"),
                "" if row["ratio"] is None else f"{row['ratio']:.2f}", number(row["peak_mb"]),
                "" if row.get("same_outputs") is None else f"{row['same_outputs']:.1%}",
                "" if row.get("bleu") is None else f"{row['bleu']:.2f}",
            )
            for row in rows
        ),
    ]  # fmt: skip


def attention_table(rows: Sequence[Row]) -> Table:
    """A row a rule, kernel and pass, a column a length; exponents are those that the rows without a length bring."""
    lengths = sorted({row["length"] for row in rows if "length" in row})
    table: list[Sequence[str]] = [("rule", "kernel", "pass", *(f"ms at {n}" for n in lengths), "exponent",
              f"MB at {lengths[-1]}" if lengths else "MB", "exponent")]  # fmt: skip
    found: dict[tuple[str, ...], dict[int | str, Row]] = {}
    for row in rows:
        found.setdefault((row["rule"], row["kernel"], row["passes"]), {})[row.get("length", "fit")] = row
    for series_key, by_length in found.items():
        costs = [number(1e3 * by_length[n]["seconds"]) if n in by_length else "" for n in lengths]
        last, fit = by_length.get(lengths[-1]) if lengths else None, by_length.get("fit", {})
        memory = "" if last is None else number(last["peak_bytes"] / MEGABYTE)
        fitted = [fit.get(name) for name in ("seconds_exponent", "peak_bytes_exponent")]
        powers = ["" if power is None else f"{power:.2f}" for power in fitted]
        table.append((*series_key, *costs, powers[0], memory, powers[1]))
    return table


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


def markdown(table: Table) -> list[str]:
    """A table whose first line is the head."""
    lines = [f"| {' | '.join(cells)} |" for cells in table]
    return [lines[0], "|" + "---|" * len(table[0]), *lines[1:]]


def number(value: float) -> str:
    """Three digits that mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def extremes(row: Row, name: str) -> str:
    """The least and the most beside a median."""
    return f"{number(row[f'{name}_min'])} to {number(row[f'{name}_max'])}"


def _where(row: Row) -> str:
    medians = [f"median of {counted(row[unit], unit[:-1])}" for unit in ("rounds", "turns") if unit in row]
    return ", ".join([*medians, in_words(row)])


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


def _on(value: bool) -> str:
    return "on" if value else "off"
