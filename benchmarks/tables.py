"""Rows of figures as tables: for each kind of row, how columns are called and what their cells are made of."""

import math
import re
import string
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import exponent
from benchmarks.memory import MEGABYTE
from translator.inspection.tables import markdown_table

Row = Mapping[str, Any]

_PEERS = (
    "program | setting | rate | (slowest, fastest turn) | our fastest / it | peak MB | same outputs | BLEU",
    "{program} | {setting} | {rate:short} {unit} | {rate_min:short} to {rate_max:short} | {ratio:.2f} | "
    "{peak_mb:short} | {same_outputs:.1%} | {bleu:.2f}",
)
#: Heads and cells: `_Cells` says what stands after a colon; a column with EACH is repeated for each length.
_COLUMNS = {
    "train": (
        "model | parameters | precision | tokens/s | (slowest, fastest round) | pairs/s | padding | peak MB | "
        "of it before",
        "{model} | {parameters:,} | {precision} | {tokens_per_second:short} | "
        "{tokens_per_second_min:short} to {tokens_per_second_max:short} | {sentences_per_second:short} | "
        "{padding:.1%} | {peak_mb:short} | {baseline_mb:short}",
    ),
    "decode": (
        "checkpoint | beam | batch | cache | precision | sentences/s | (slowest, fastest round) | tokens/s | padding | "
        "peak MB | of it before | outputs",
        "{checkpoint:name} | {beam} | {batch} | {cache:on} | {precision} | {sentences_per_second:short} | "
        "{sentences_per_second_min:short} to {sentences_per_second_max:short} | {tokens_per_second:short} | "
        "{padding:.1%} | {peak_mb:short} | {baseline_mb:short} | {outputs:.6}",
    ),
    "growth": (
        "model | cache | batch | beam | kv heads | ms at EACH | exponent | state bytes a token | source bytes",
        "{model} | {cache:on} | {batch} | {beam} | {kv_heads} | {ms_per_token_at_EACH:short} | {exponent:.2f} | "
        "{state_bytes_per_token:short} | {source_bytes:short}",
    ),
    "kinds": (
        "model | attention | parameters | batch | beam | tokens | tokens/s | ratio | (least, most of the rounds) | "
        "state bytes a token | source bytes",
        "{model} | {attention} | {parameters:,} | {batch} | {beam} | {length} | {tokens_per_second:short} | "
        "{ratio:.2f} | {ratio_min:.2f} to {ratio_max:.2f} | {state_bytes_per_token:short} | {source_bytes:short}",
    ),
    "attention": (
        "rule | kernel | pass | ms at EACH | exponent | MB at LAST | exponent",
        "{rule} | {kernel} | {passes} | {seconds_at_EACH:ms} | {seconds_exponent:.2f} | {peak_bytes_at_LAST:mb} | "
        "{peak_bytes_exponent:.2f}",
    ),
    "peers-train": _PEERS,
    "peers-decode": _PEERS,
}


def markdown(kind: str, rows: Sequence[Row]) -> list[str]:
    """The table of one kind of rows, as lines of Markdown."""
    lengths = sorted({row["length"] for row in rows if "length" in row})
    columns = []
    for head, cell in zip(*(line.split(" | ") for line in _COLUMNS[kind]), strict=True):
        numbers = lengths if "EACH" in cell else lengths[-1:] if "LAST" in cell else [0]
        columns += [[re.sub("EACH|LAST", str(n), text) for text in (head, cell)] for n in numbers]
    shown = {"growth": _growth, "kinds": _kinds, "attention": _attention}.get(kind, iter)(rows)
    write = _Cells().vformat
    return markdown_table(
        [head for head, _ in columns], [[write(cell, (), row) for _, cell in columns] for row in shown]
    )


def series(
    rows: Iterable[Row], keys: Sequence[str] = ("model", "cache", "batch", "beam", "kv_heads", "precision")
) -> list[list[Row]]:
    """Rows that differ in length alone, each series in the order of lengths (none: last), series as they came."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [sorted(of_series, key=lambda row: row.get("length", math.inf)) for of_series in found.values()]


def number(value: float) -> str:
    """Three digits that mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


class _Cells(string.Formatter):
    """Format strings with a few words more; what a row does not tell is an empty cell."""

    words: Mapping[str, Callable[[Any], str]] = {
        "short": number,
        "ms": lambda seconds: number(1e3 * seconds),
        "mb": lambda size: number(size / MEGABYTE),
        "on": lambda value: "on" if value else "off",
        "name": lambda path: Path(path).name,
    }

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return kwargs.get(str(key))

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return ""
        return self.words[format_spec](value) if format_spec in self.words else format(value, format_spec)


def _growth(rows: Sequence[Row]) -> Iterator[Row]:
    """A row a series; the exponent says how a token's cost grows with the length of the output."""
    for one in series(rows):
        power = exponent([row["length"] for row in one], [row["ms_per_token"] for row in one])
        yield {**_merged(one), "exponent": power}


def _attention(rows: Sequence[Row]) -> Iterator[Row]:
    """A row a rule, kernel and pass; exponents are those that the rows without a length bring."""
    yield from map(_merged, series(rows, ("rule", "kernel", "passes")))


def _kinds(rows: Sequence[Row]) -> Iterator[Row]:
    for row in rows:
        yield {**row, "state_bytes_per_token": row["state_bytes"] / (row["batch"] * row["beam"] * row["length"])}


def _merged(of_series: Sequence[Row]) -> Row:
    """A series as one row: what the first tells, else the next, and each figure of each length."""
    own = [{f"{name}_at_{row['length']}": row[name] for name in row} for row in of_series if "length" in row]
    return ChainMap(*map(dict, [*of_series, *reversed(own)]))
