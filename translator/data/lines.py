"""The one place that turns bytes into lines.

A record ends at LF and nowhere else: U+2028, NEL, form feed and a bare CR are content. One CR before the LF is
dropped (Windows), as is a byte order mark at the start of a file. Text is UTF-8 whatever the locale says.
"""

import gzip
import logging
import sys
import zlib
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO, cast

from translator.errors import UserError

logger = logging.getLogger("translator")

GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
WORD_MARK = "\u2581"  # SentencePiece's own sign for a space: in text it is read as one


def open_binary(path: str | PathLike[str]) -> BinaryIO:
    """Opens a plain or gzipped file (told apart by content, not by name); "-" is standard input.

    Raises UserError where the file can't be opened.
    """
    if str(path) == "-":
        return sys.stdin.buffer
    try:
        file = open(path, "rb")  # noqa: SIM115 -- the caller closes it
        start = file.peek(2)[:2]
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    if start != GZIP_MAGIC:
        return file
    unzipped = gzip.GzipFile(fileobj=file)
    unzipped.myfileobj = file  # type: ignore[assignment]  # what it closes with itself
    return cast("BinaryIO", unzipped)


def read_records(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the records of a stream without their LF, each as soon as it is there.

    A last line without LF counts; an empty stream has no record.
    """
    return (record.removesuffix(b"\n") for record in iter(stream.readline, b""))


def decode_record(raw: bytes, *, first: bool, errors: str = "strict") -> str:
    """Text of a record: without one trailing CR and, in the first record, without a BOM; NUL becomes a space.

    Raises UnicodeDecodeError for malformed UTF-8, unless `errors` (as for bytes.decode) says otherwise.
    """
    bare = (raw.removeprefix(BOM) if first else raw).removesuffix(b"\r")
    return bare.decode("utf-8", errors).replace("\0", " ")


def decode_leniently(raw: bytes, *, first: bool) -> tuple[str, bool]:
    """As decode_record, but malformed bytes become U+FFFD; the flag says whether there were any."""
    try:
        return decode_record(raw, first=first), False
    except UnicodeDecodeError:
        return decode_record(raw, first=first, errors="replace"), True


def read_text(path: str | PathLike[str]) -> list[str]:
    """All lines of a plain or gzipped UTF-8 file.

    Raises UserError, naming the file and, for malformed UTF-8, the line. NUL characters are counted in a warning.
    """
    lines: list[str] = []
    nul_lines = 0
    try:
        with open_binary(path) as stream:
            for raw in read_records(stream):
                lines.append(decode_record(raw, first=not lines))
                nul_lines += b"\0" in raw
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}, line {len(lines) + 1}: not valid UTF-8 (byte {error.start + 1} of the line); "
            "convert the file (iconv -t utf-8) or mend that line"
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    if nul_lines:
        logger.warning("%s: NUL characters in %d lines, each read as a space", path, nul_lines)
    return lines


def is_blank(text: str) -> bool:
    """Whether a line holds nothing but (any Unicode) white space, and so has nothing to translate."""
    return not text.replace(WORD_MARK, " ").replace("\0", " ").strip()
