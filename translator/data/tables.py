"""Two columns of a table of text: .tsv, .csv or .jsonl, plain or gzipped, or .parquet, row by row, without any cache.

A cell is a sentence and a sentence is one line, so line ends inside a cell become spaces.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from translator.data.lines import read_text
from translator.data.normalization import SURROGATE
from translator.errors import UserError

Sides = tuple[list[str], list[str]]

LINE_END = re.compile("\r\n|\r|\n")
INNER_CR = re.compile("\r(?!$)")


def read_tsv(path: str, columns: tuple[str, str]) -> Sides:
    """Source and target of a tab-separated file, in which a quote is a quote and nothing else.

    A first row with both column names is a header. Without one there must be two columns: source, target.
    Raises UserError for a row with another number of tabs than the first.
    """
    rows = [line.split("\t") for line in read_text(path)]
    if not rows:
        return [], []
    header = rows[0] if set(columns) <= set(rows[0]) else None
    if header is None and len(rows[0]) != 2:
        raise UserError(
            f"{path}, line 1: {len(rows[0])} columns and not a header with {' and '.join(map(repr, columns))}; "
            "name the columns in the first row, or keep to two: source, target"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise UserError(f"{path}, line {number}: {len(row) - 1} tabs where line 1 has {len(rows[0]) - 1}")
    source, target = map(header.index, columns) if header else (0, 1)
    body = rows[1:] if header else rows
    return [row[source] for row in body], [row[target] for row in body]


def read_csv(path: str, columns: tuple[str, str]) -> Sides:
    """Source and target of a comma-separated file with a header, quoted as in RFC 4180.

    Raises UserError, with the line, for wrong quoting and for a row with another number of cells than the header.
    """
    lines = (INNER_CR.sub(" ", line) + "\n" for line in read_text(path))
    reader = csv.reader(lines, strict=True)
    rows: list[tuple[str, Mapping[str, Any]]] = []
    try:
        header = next(reader, [])
        for row in reader:
            if len(row) != len(header):
                raise UserError(f"{path}, line {reader.line_num}: {len(row)} cells where the header has {len(header)}")
            rows.append((f"{path}, line {reader.line_num}", dict(zip(header, row, strict=True))))
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num}: not valid CSV ({error})") from error
    return sides(rows, columns)


def read_jsonl(path: str, columns: tuple[str, str]) -> Sides:
    """Source and target of a file with one JSON object a line. Raises UserError, with the line, for anything else."""
    lines = ((f"{path}, line {number}", line) for number, line in enumerate(read_text(path), 1) if line.strip())
    return sides(((where, _object(where, line)) for where, line in lines), columns)


def _object(where: str, line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON ({error})") from error
    if not isinstance(row, dict):
        raise UserError(f"{where}: not a JSON object with the columns as keys")
    return row


def read_parquet(path: str, columns: tuple[str, str]) -> Sides:
    """Source and target of a Parquet file. Raises UserError where there is none, and where it cannot be read."""
    import pyarrow
    import pyarrow.parquet

    if not Path(path).is_file():
        raise UserError(f"cannot read {path}: no such file")
    try:
        with open(path, "rb") as file:  # opened here, as some characters of a path would mean something to the library
            table = pyarrow.parquet.ParquetFile(file)
            both = set(columns) <= set(table.schema_arrow.names)  # else they may be in a "translation"
            batches = table.iter_batches(columns=list(columns) if both else None)
            rows = enumerate((row for batch in batches for row in batch.to_pylist()), 1)
            return sides(((f"{path}, row {number}", row) for number, row in rows), columns)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: not a readable Parquet file ({one_line(error)})") from error


def sides(rows: Iterable[tuple[str, Mapping[str, Any]]], columns: tuple[str, str]) -> Sides:
    """The two columns of rows, each row with a name for messages.

    A column is a key of the row, or of the dictionary under its key "translation", as many sets on the Hub have it.
    Raises UserError where a column is missing or doesn't hold text; null is an empty text.
    """
    pairs = [[_cell(where, row, column) for column in columns] for where, row in rows]
    return [source for source, _ in pairs], [target for _, target in pairs]


def _cell(where: str, row: Mapping[str, Any], column: str) -> str:
    nested = row.get("translation")
    if column not in row and isinstance(nested, Mapping):
        row = nested
    if column not in row:
        raise UserError(
            f"{where}: no column {column!r}, only {', '.join(map(repr, row))}; "
            "set data.source_column and data.target_column"
        )
    value = row[column]
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UserError(f"{where}: column {column!r} holds {type(value).__name__}, not text")
    return SURROGATE.sub("\ufffd", LINE_END.sub(" ", value)).replace("\0", " ")


def one_line(error: Exception) -> str:
    """What a library's error says, fit for the end of a message."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


TABLE_READERS = {".tsv": read_tsv, ".csv": read_csv, ".jsonl": read_jsonl, ".parquet": read_parquet}
