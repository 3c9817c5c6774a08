"""Lines in and lines out, as they come and without losing one."""

import logging
import queue
import signal
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO

from translator.data.lines import decode_leniently, open_binary, read_records
from translator.errors import UserError

log = logging.getLogger(__name__)

#: Lines that are sorted by length together. The first lots are smaller, so that the first answer does not wait.
LOT = 2048
FIRST_LOT = 64
#: A lot is also full at this many bytes.
LOT_BYTES = 1 << 20
#: Seconds without a new line after which what has come is translated: somebody waits for an answer.
PATIENCE = 0.05
#: Malformed lines that are named; the rest are only counted.
NAMED = 10


def open_input(path: str) -> BinaryIO:
    """A plain or gzipped file, or standard input for ``-``."""
    if path != "-":
        return open_binary(path)
    try:
        # An object of our own: the interpreter locks sys.stdin at its end, while our thread may still wait in it.
        return open(0, "rb", closefd=False)
    except OSError as error:
        raise UserError(f"cannot read standard input: {error.strerror}") from error


class LineReader:
    """Cuts a stream into lots of lines.

    A thread reads ahead, so that a lot ends when it is full or when nothing has come for `PATIENCE`: a file is read
    in large lots, and a person or program that waits for an answer gets it. Malformed UTF-8 is replaced by U+FFFD
    with a warning that names the line.
    """

    def __init__(self, stream: BinaryIO, name: str, lot: int = LOT) -> None:
        self._name, self._most = name, lot
        self._records: queue.Queue[bytes | Exception | None] = queue.Queue(maxsize=lot)
        self._count = self._malformed = 0
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def lots(self) -> Iterator[list[str]]:
        """Non-empty lists of lines, until the stream ends.

        Raises:
            UserError: the stream cannot be read on; what came before has been handed out.
        """
        size = min(FIRST_LOT, self._most)
        record: bytes | Exception | None = b""
        while isinstance(record, bytes):
            lines: list[str] = []
            held = 0
            while len(lines) < size and held < LOT_BYTES:
                try:
                    record = self._records.get(timeout=PATIENCE if lines else None)
                except queue.Empty:
                    break
                if not isinstance(record, bytes):
                    break
                lines.append(self._decode(record))
                held += len(record)
            else:
                size = min(2 * size, self._most)
            if lines:
                yield lines
        if isinstance(record, Exception):
            raise UserError(f"cannot read {self._name}: {record}") from record
        if self._malformed > NAMED:
            log.warning("%s: %d lines were not valid UTF-8", self._name, self._malformed)

    def _decode(self, raw: bytes) -> str:
        text, malformed = decode_leniently(raw, first=self._count == 0)
        self._count += 1
        self._malformed += malformed
        if malformed and self._malformed <= NAMED:
            log.warning("%s, line %d: not valid UTF-8, malformed bytes replaced", self._name, self._count)
        return text

    def _read(self, stream: BinaryIO) -> None:
        # The thread alone closes the stream: elsewhere that could wait for ever for a reader that blocks.
        try:
            with stream:
                for record in read_records(stream):
                    self._records.put(record)
            self._records.put(None)
        except (OSError, EOFError, zlib.error) as error:
            self._records.put(error)


class LineWriter:
    """Writes whole lines, UTF-8 with LF whatever the locale, each lot at once.

    Nothing is buffered beyond a call, so a closed pipe is met here and not once more when the interpreter ends.
    """

    def __init__(self, path: str) -> None:
        """Open a file (gzipped if so named) or standard output (``-``); UserError where it cannot be opened."""
        self.name = "standard output" if path == "-" else path
        with _told(self.name):
            self._raw = open(1 if path == "-" else path, "wb", buffering=0, closefd=path != "-")  # noqa: SIM115
        self._gzip = GzipFile(fileobj=self._raw, mode="wb", mtime=0) if path.endswith(".gz") else None

    def write(self, lines: list[str]) -> None:
        """Write lines and make sure that the reader has them.

        Raises:
            BrokenPipeError: the reader has gone.
            UserError: the disk is full or the like.
        """
        data = "".join(line + "\n" for line in lines).encode()
        with _uninterrupted(), _told(self.name):
            if self._gzip is not None:
                self._gzip.write(data)
                self._gzip.flush()
                return
            rest = memoryview(data)
            while rest:
                rest = rest[self._raw.write(rest) or 0 :]

    def close(self) -> None:
        """Finish the file; raises as `write` does."""
        with _told(self.name):
            if self._gzip is not None:
                self._gzip.close()
            self._raw.close()


def refuse_same_file(source: str, target: str) -> None:
    """Raise UserError where writing ``target`` would destroy ``source``."""
    if "-" in (source, target) or not Path(target).exists():
        return
    if Path(source).exists() and Path(source).samefile(target):
        raise UserError(f"{target} would be overwritten while it is read: write to another file")


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"cannot write {name}: {error.strerror}") from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off until the block is done, so that no line is cut in the middle."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is not signal.default_int_handler:
        yield
        return
    caught: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if caught:
        raise KeyboardInterrupt


def say(message: str, program: str = "translate") -> None:
    """One line on standard error."""
    print(f"{program}: {' '.join(message.split())}", file=sys.stderr, flush=True)
