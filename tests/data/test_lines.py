import gzip
import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from translator.data.lines import decode_leniently, decode_record, is_blank, open_binary, read_records, read_text
from translator.errors import UserError


def records(data: bytes) -> list[bytes]:
    return list(read_records(io.BytesIO(data)))


@pytest.mark.parametrize("inner", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
def test_only_line_feed_ends_a_line(tmp_path: Path, inner: str):
    path = tmp_path / "text"
    path.write_bytes(f"one{inner}two\nthree\n".encode())
    assert read_text(path) == [f"one{inner}two", "three"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"\n\n", [b"", b""]),
        (b"one\ntwo", [b"one", b"two"]),
        (b"one\ntwo\n", [b"one", b"two"]),
        (b" one \t\x0b\n\x0c", [b" one \t\x0b", b"\x0c"]),
        (b"one\n\n\ntwo\n\n", [b"one", b"", b"", b"two", b""]),
    ],
)
def test_a_last_line_counts_with_and_without_its_end(data: bytes, expected: list[bytes]):
    assert records(data) == expected


def test_the_number_of_records_does_not_depend_on_buffer_sizes():
    for count in (io.DEFAULT_BUFFER_SIZE - 1, io.DEFAULT_BUFFER_SIZE, io.DEFAULT_BUFFER_SIZE + 1):
        stream = io.BufferedReader(io.BytesIO(b"x\n" * count), buffer_size=7)
        assert sum(1 for _ in read_records(stream)) == count  # type: ignore[arg-type]


def test_a_record_is_there_before_the_next_is_written():
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as reader, os.fdopen(write_end, "wb", buffering=0) as writer:
        stream = read_records(reader)
        for line in (b"first", b"second"):
            writer.write(line + b"\n")
            assert next(stream) == line


def test_windows_line_ends_read_like_others(tmp_path: Path):
    for name, end in (("lf", b"\n"), ("crlf", b"\r\n")):
        (tmp_path / name).write_bytes(end.join([b"the dog", b"", b"the cat", b""]))
    assert read_text(tmp_path / "crlf") == read_text(tmp_path / "lf") == ["the dog", "", "the cat"]


def test_just_one_carriage_return_is_dropped():
    assert decode_record(b"a\r\r", first=False) == "a\r"


def test_a_byte_order_mark_is_dropped_at_the_start_alone(tmp_path: Path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfthe dog\n\xef\xbb\xbfthe dog\n")
    assert read_text(path) == ["the dog", "\ufeffthe dog"]
    assert decode_record(b"\xef\xbb\xbf\r", first=True) == ""


def test_nul_is_a_space_and_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "text"
    path.write_bytes(b"ab\0cd\nplain\n\0\0\n")
    with caplog.at_level(logging.WARNING, "translator"):
        assert read_text(path) == ["ab cd", "plain", "  "]
    assert "NUL characters in 2 lines" in caplog.text
    assert str(path) in caplog.text


def test_malformed_bytes_name_file_and_line(tmp_path: Path):
    path = tmp_path / "text"
    path.write_bytes(b"good\ncaf\xe9 noir\n")
    with pytest.raises(UserError, match=rf"{path}, line 2: not valid UTF-8 \(byte 4 of the line\)"):
        read_text(path)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"caf\xe9 noir\r", ("caf\ufffd noir", True)),
        (b"\xff\xfe", ("\ufffd\ufffd", True)),
        (b"a\0b", ("a b", False)),
        ("é".encode(), ("é", False)),
        (b"\xed\xa0\x80", ("\ufffd\ufffd\ufffd", True)),  # half of a surrogate pair
    ],
)
def test_lenient_decoding_replaces_malformed_bytes_and_says_so(raw: bytes, expected: tuple[str, bool]):
    assert decode_leniently(raw, first=False) == expected


def test_lenient_decoding_drops_a_byte_order_mark_before_malformed_bytes():
    assert decode_leniently(b"\xef\xbb\xbfa\xff", first=True) == ("a\ufffd", True)


def test_gzip_is_told_by_content_and_not_by_name(tmp_path: Path):
    zipped, plain = tmp_path / "zipped.txt", tmp_path / "plain.gz"
    zipped.write_bytes(gzip.compress("é\u2028x\n".encode()))
    plain.write_bytes("é\u2028x\n".encode())
    assert read_text(zipped) == read_text(plain) == ["é\u2028x"]


def test_closing_a_gzip_closes_the_file_below(tmp_path: Path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n"))
    stream = open_binary(path)
    below = stream.fileobj  # type: ignore[attr-defined]
    stream.close()
    assert below.closed


@pytest.mark.parametrize("cut", [5, 15, -5])
def test_a_damaged_gzip_is_a_message(tmp_path: Path, cut: int):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"some text that is long enough\n" * 50)[:cut])
    with pytest.raises(UserError, match=f"cannot read {path}"):
        read_text(path)


def test_what_cannot_be_opened_is_a_message(tmp_path: Path):
    with pytest.raises(UserError, match=r"cannot read .*absent: No such file"):
        read_text(tmp_path / "absent")
    with pytest.raises(UserError, match=r"cannot read .*: Is a directory"):
        read_text(tmp_path)


def test_awkward_paths_are_plain_paths(tmp_path: Path):
    path = tmp_path / "my data" / "über [1], (a)@b#c%r" / "train*.src"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a\n")
    assert read_text(path) == ["a"]


def test_the_locale_changes_nothing(tmp_path: Path):
    path = tmp_path / "text"
    path.write_bytes("Straße café 你好\n".encode())
    code = (
        "import sys; from translator.data.lines import read_text, open_binary, read_records, decode_record\n"
        "lines = read_text(sys.argv[1]) + [decode_record(r, first=True) for r in read_records(open_binary('-'))]\n"
        "print(ascii(lines))"
    )
    settings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        input=path.read_bytes(), capture_output=True, env=settings, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout.decode().strip() == ascii(["Straße café 你好"] * 2)


@pytest.mark.parametrize("text", ["", " ", "\t", "\u00a0", "\u3000", "\r", "\x0b\x0c\x85\u2028\u2029", "\u2581 \0"])
def test_white_space_of_any_kind_is_blank(text: str):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " . ", "\u200b", "0"])
def test_anything_else_is_not_blank(text: str):
    assert not is_blank(text)
