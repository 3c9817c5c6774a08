"""Lines in and out: none lost, none cut, none late."""

import gzip
import io
import os
import signal
import threading
import time
import zlib
from pathlib import Path

import pytest

from translator.cli.streams import LineReader, LineWriter, open_input, refuse_same_file
from translator.errors import UserError


def lots(data: bytes, lot: int = 2048) -> list[list[str]]:
    return list(LineReader(io.BytesIO(data), "probe", lot).lots())


@pytest.mark.parametrize("lot", [1, 2, 7])
def test_no_line_is_lost_at_the_borders_of_lots(lot: int) -> None:
    for count in (0, 1, lot - 1, lot, lot + 1, 2 * lot, 2 * lot + 1):
        lines = [f"line {i}" for i in range(count)]
        found = lots("".join(line + "\n" for line in lines).encode(), lot)
        assert [line for part in found for line in part] == lines
        assert all(0 < len(part) <= lot for part in found)


def test_line_feed_alone_ends_a_line() -> None:
    data = "\ufeffone two\u2028three\nfour\u2029five\r\nsix\u0085seven\x0ceight\x1c\rnine\n\n\r\nlast".encode()

    assert lots(data) == [["one two\u2028three", "four\u2029five", "six\u0085seven\x0ceight\x1c\rnine", "", "", "last"]]
    assert lots(b"") == []
    assert lots(b"\n\n") == [["", ""]]


def test_malformed_lines_are_replaced_and_named(caplog: pytest.LogCaptureFixture) -> None:
    assert lots(b"good\ncaf\xe9 noir\n\xff\xfe\nalso good\n") == [
        ["good", "caf\ufffd noir", "\ufffd\ufffd", "also good"]
    ]
    assert [record.getMessage() for record in caplog.records] == [
        "probe, line 2: not valid UTF-8, malformed bytes replaced",
        "probe, line 3: not valid UTF-8, malformed bytes replaced",
    ]
    caplog.clear()
    lots(b"\xff\n" * 997)
    assert len(caplog.records) == 11
    assert "probe: 997 lines were not valid UTF-8" in caplog.text


def test_lots_grow_from_small_to_large() -> None:
    sizes = [len(lot) for lot in lots(b"x\n" * 1000, 300)]

    assert sizes == [64, 128, 256, 300, 252]


def test_few_huge_lines_fill_a_lot() -> None:
    assert [len(lot) for lot in lots((b"x" * 600_000 + b"\n") * 5)] == [2, 2, 1]


def test_what_has_come_is_handed_out_when_nothing_follows() -> None:
    read, write = os.pipe()
    reader = LineReader(os.fdopen(read, "rb"), "probe").lots()
    for _ in range(3):
        os.write(write, b"one\ntwo\n")
        assert next(reader) == ["one", "two"]
    os.write(write, b"tail")
    os.close(write)
    assert list(reader) == [["tail"]]


class Broken(io.BytesIO):
    """A stream that fails where it should end."""

    def readline(self, size: int | None = -1) -> bytes:
        if line := super().readline(size):
            return line
        raise OSError("the disk is gone")


def test_a_stream_that_breaks_gives_its_lines_and_then_the_reason() -> None:
    reader = LineReader(Broken(b"one\ntwo\nthree\n"), "probe", lot=2).lots()

    found: list[list[str]] = []
    with pytest.raises(UserError, match="cannot read probe: the disk is gone"):
        found.extend(reader)
    assert found == [["one", "two"], ["three"]]


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    path = tmp_path / "broken.gz"
    path.write_bytes(gzip.compress(b"line\n" * 5000)[:-9])

    with pytest.raises(UserError, match=r"cannot read .*broken\.gz: Compressed file ended"):
        list(LineReader(open_input(str(path)), str(path)).lots())


@pytest.mark.parametrize("name", ["out.txt", "out.gz"])
def test_written_lines_arrive_at_once_and_end_in_line_feed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    writer = LineWriter(str(path))
    writer.write(["Straße", "", "你好\u2028"])
    early = path.read_bytes()
    writer.write([])
    writer.close()

    data = path.read_bytes()
    assert (zlib.decompressobj(31).decompress(early) if name.endswith(".gz") else early).endswith(b"\n")
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == "Straße\n\n你好\u2028\n".encode()


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot write .*missing/out\.txt: No such file"):
        LineWriter(str(tmp_path / "missing" / "out.txt"))
    if Path("/dev/full").exists():
        with pytest.raises(UserError, match="cannot write /dev/full: No space"):
            LineWriter("/dev/full").write(["line"])


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("su\n")
    (tmp_path / "link").symlink_to(path)

    for target in (path, tmp_path / "link", tmp_path / ".." / tmp_path.name / "text"):
        with pytest.raises(UserError, match="would be overwritten"):
            refuse_same_file(str(path), str(target))
    refuse_same_file(str(path), str(tmp_path / "other"))
    refuse_same_file("-", str(path))


def test_an_interrupt_waits_for_the_end_of_the_lot() -> None:
    """The pipe is full when the signal comes, so that the lot is written in pieces."""
    read, write = os.pipe()
    writer = LineWriter("/dev/null")
    writer._raw = os.fdopen(write, "wb", buffering=0)
    lines = ["x" * 999] * 200
    data: list[bytes] = []

    def interrupt_then_read() -> None:
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(0.1)
        while chunk := os.read(read, 65536):
            data.append(chunk)

    thread = threading.Thread(target=interrupt_then_read)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        writer.write(lines)
    writer.close()
    thread.join()
    os.close(read)
    assert b"".join(data) == b"".join(line.encode() + b"\n" for line in lines)
