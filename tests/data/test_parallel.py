import gzip
from pathlib import Path

import pytest

from translator.data.corpus import read_multi30k
from translator.data.parallel import ParallelText, read_parallel
from translator.errors import UserError


def lines(name: str, count: int) -> bytes:
    return "".join(f"{name} {i}\n" for i in range(count)).encode()


@pytest.mark.parametrize("count", [99, 101])
def test_files_of_unequal_length_are_refused_with_both_counts(tmp_path: Path, count: int):
    (tmp_path / "a.src").write_bytes(lines("s", 100))
    (tmp_path / "a.tgt").write_bytes(lines("t", count))
    with pytest.raises(UserError, match=rf"a\.src has 100 lines and .*a\.tgt has {count}"):
        read_parallel(tmp_path / "a.src", tmp_path / "a.tgt")


def test_separators_inside_one_side_shift_nothing(tmp_path: Path):
    sources = [f"s {i}" for i in range(200)]
    sources[49], sources[50], sources[51] = "one\u2028two", "three\rfour", "five\0six"
    (tmp_path / "a.src").write_bytes("".join(f"{line}\n" for line in sources).encode())
    (tmp_path / "a.tgt").write_bytes(b"\xef\xbb\xbf" + lines("t", 200))
    text = read_parallel(tmp_path / "a.src", tmp_path / "a.tgt")
    assert len(text) == 200
    assert text.sources[49:53] == ["one\u2028two", "three\rfour", "five six", "s 52"]
    assert (text.targets[0], text.targets[52]) == ("t 0", "t 52")


def test_pairs_with_a_blank_side_are_dropped_in_step():
    sources, targets = [f"s{i}" for i in range(100)], [f"t{i}" for i in range(100)]
    targets[10], targets[20], sources[30] = "", " \u00a0\u3000", "\t"
    text = ParallelText(sources, targets)
    kept = text.without_blank_sides()
    assert (len(kept), kept.dropped) == (97, 3)
    assert all(s[1:] == t[1:] for s, t in zip(kept.sources, kept.targets, strict=True))
    assert (len(text), text.dropped) == (100, 0)
    assert kept.without_blank_sides() == kept


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "my data [1], (a)@b#c%r*"
    directory.mkdir()
    for name, count in (("train", 7), ("val", 3), ("test_2016_flickr", 5), ("test_2015", 2)):
        for language in ("en", "de"):
            (directory / f"{name}.{language}").write_bytes(lines(f"{name} {language}", count))
    return directory


@pytest.mark.parametrize(
    ("split", "first", "count"), [("train", "train", 7), ("valid", "val", 3), ("test", "test_2016_flickr", 5)]
)
def test_the_parts_of_multi30k_are_found(root: Path, split: str, first: str, count: int):
    text = read_multi30k(root, split, "de", "en")
    assert text is not None
    assert (len(text), text.sources[0], text.targets[0]) == (count, f"{first} de 0", f"{first} en 0")


def test_a_side_may_be_gzipped(root: Path):
    (root / "train.en").unlink()
    (root / "train.en.gz").write_bytes(gzip.compress(lines("zipped", 7)))
    for pair in (("en", "de"), ("de", "en")):
        text = read_multi30k(root, "train", *pair)
        assert text is not None
        assert {text.sources[0], text.targets[0]} == {"zipped 0", "train de 0"}


def test_any_test_set_in_both_languages_will_do(root: Path):
    (root / "test_2016_flickr.de").unlink()
    text = read_multi30k(root, "test", "en", "de")
    assert text is not None
    assert text.sources == ["test_2015 en 0", "test_2015 en 1"]
    (root / "test_2015.en").unlink()
    assert read_multi30k(root, "test", "en", "de") is None


def test_a_missing_part_says_what_is_expected(root: Path):
    with pytest.raises(UserError, match=r"has no val\.fr and val\.en \(or \.gz\): data\.root must be"):
        read_multi30k(root, "valid", "fr", "en")


def test_other_parts_do_not_exist(root: Path):
    assert read_multi30k(root, "test_unseen", "en", "de") is None
