import csv
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

import datasets
import pyarrow
import pyarrow.parquet
import pytest

from translator.data.corpus import load_corpus, load_split
from translator.errors import UserError

PAIRS = [(f"source {i}", f"Ziel {i}") for i in range(17)]
MULTI30K = Path(__file__).parents[3] / "shared" / "data" / "multi30k"


@pytest.fixture(autouse=True)
def _quiet():
    datasets.disable_progress_bars()


def write_lines(path: Path, lines: list[str]) -> str:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return str(path)


def write_two(directory: Path, name: str, pairs: list[tuple[str, str]]) -> list[str]:
    return [write_lines(directory / f"{name}.{side}", [pair[side] for pair in pairs]) for side in (0, 1)]


def write_tsv(directory: Path, name: str, pairs: list[tuple[str, str]]) -> str:
    return write_lines(directory / f"{name}.tsv", ["en\tde", *map("\t".join, pairs)])


def write_csv(directory: Path, name: str, pairs: list[tuple[str, str]]) -> str:
    path = directory / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("en", "de"), *pairs])
    return str(path)


def write_jsonl(directory: Path, name: str, pairs: list[tuple[str, str]]) -> str:
    rows = [json.dumps({"en": source, "de": target}, ensure_ascii=False) for source, target in pairs]
    return write_lines(directory / f"{name}.jsonl", rows)


def write_parquet(directory: Path, name: str, pairs: list[tuple[str, str]]) -> str:
    path = directory / f"{name}.parquet"
    columns = {"de": [target for _, target in pairs], "en": [source for source, _ in pairs]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="none")
    return str(path)


Writer = Callable[[Path, str, list[tuple[str, str]]], object]
FORMATS: list[Writer] = [write_two, write_tsv, write_csv, write_jsonl, write_parquet]


def files(**parts: object) -> dict[str, object]:
    return {"kind": "files", "source": "en", "target": "de"} | parts


# Files


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_gives_the_same_pairs_from_any_path(tmp_path: Path, write: Writer):
    directory = tmp_path / "my data" / "über [1], (a)@b#c%r*"
    directory.mkdir(parents=True)
    pairs = [*PAIRS, ('5\' 9" tall, "x"', "a\u2028b\x0bc\x85"), ("NA", "null"), ("007", "1e5")]
    text = load_split(files(train=write(directory, "train", pairs)), "train")
    assert list(zip(text.sources, text.targets, strict=True)) == pairs


@pytest.mark.parametrize("write", FORMATS)
def test_an_edited_file_is_read_anew(tmp_path: Path, write: Writer):
    """Edited in place to the same size, with the time stamp of before."""
    edited = [(s, t.replace("Ziel 3", "Wort 3")) for s, t in PAIRS]
    config = files(train=write(tmp_path, "train", PAIRS))
    stamps = {path: path.stat() for path in tmp_path.iterdir()}
    assert load_split(config, "train").targets[3] == "Ziel 3"
    write(tmp_path, "train", edited)
    for path, stamp in stamps.items():
        assert path.stat().st_size == stamp.st_size
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert load_split(config, "train").targets[3] == "Wort 3"


def test_only_training_drops_pairs_with_a_blank_side(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    pairs = [*PAIRS, ("", "x"), ("x", " \u00a0")]
    config = files(**{part: write_two(tmp_path, part, pairs) for part in ("train", "valid", "test")})
    with caplog.at_level(logging.INFO, "translator"):
        corpus = load_corpus(config)
    assert "train: 17 pairs used, 2 dropped for a blank side" in caplog.text
    assert (corpus.train.sources, corpus.train.dropped) == ([s for s, _ in PAIRS], 2)
    for text in (corpus.valid, corpus.tests["test"]):
        assert (text.sources, text.targets) == ([s for s, _ in pairs], [t for _, t in pairs])


def test_references_come_as_they_are(tmp_path: Path):
    targets = ["cafe\u0301  ½ … ", "\u00a0x²\u2028y", "„q“ \ufeff"]
    text = load_split(
        files(test=[write_lines(tmp_path / "s", ["a"] * 3), write_lines(tmp_path / "t", targets)]), "test"
    )
    assert text.targets == targets


def test_columns_can_be_named(tmp_path: Path):
    path = write_lines(tmp_path / "a.tsv", ["id\tfrench\tgerman", "1\tchien\tHund"])
    config = files(train=path, source_column="french", target_column="german")
    assert load_split(config, "train").sources == ["chien"]
    assert load_split(config | {"source_column": None, "source": "french"}, "train").targets == ["Hund"]


@pytest.mark.parametrize("missing", ["train", "valid"])
def test_a_missing_part_is_asked_for(tmp_path: Path, missing: str):
    parts = {part: write_two(tmp_path, part, PAIRS) for part in ("train", "valid")} | {missing: None}
    with pytest.raises(UserError, match=rf"no {missing} part; give one with data\.{missing}="):
        load_corpus(files(**parts))


def test_the_test_part_may_be_missing_and_may_stand_alone(tmp_path: Path):
    pair = write_two(tmp_path, "a", PAIRS)
    assert load_corpus(files(train=pair, valid=pair, test=None)).tests == {}
    assert len(load_split(files(test=pair), "test")) == len(PAIRS)


@pytest.mark.parametrize("blank", ["train", "valid"])
def test_a_part_without_text_is_refused(tmp_path: Path, blank: str):
    parts = {part: write_two(tmp_path, part, PAIRS) for part in ("train", "valid")}
    parts[blank] = write_two(tmp_path, blank, [("", "x"), (" ", "")])
    with pytest.raises(UserError, match=f"the {blank} part of the data has no pair with text on both sides"):
        load_corpus(files(**parts))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["a", "b", "c"], r"data\.train names 3 files; it takes \[SOURCE,TARGET\]"),
        ("a.txt", r"a\.txt: a table ends in \.tsv, \.csv, \.jsonl, \.parquet; two parallel files"),
        ("absent.tsv", r"cannot read absent\.tsv: No such file"),
        ("absent.parquet", r"cannot read absent\.parquet: no such file"),
    ],
)
def test_what_files_cannot_be_is_told(value: object, message: str):
    with pytest.raises(UserError, match=message):
        load_split(files(train=value), "train")


def test_what_is_no_parquet_is_told(tmp_path: Path):
    path = write_lines(tmp_path / "a.parquet", ["no parquet"])
    with pytest.raises(UserError, match=r"a\.parquet: not a readable Parquet file"):
        load_split(files(train=path), "train")


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(UserError, match=r"data\.kind must be one of pocket, multi30k, files, hub, not 'wmt'"):
        load_corpus({"kind": "wmt", "source": "en", "target": "de"})


def test_the_fingerprint_is_of_all_the_text(tmp_path: Path):
    def fingerprint(**changes: list[tuple[str, str]]) -> str:
        parts = {"train": PAIRS, "valid": PAIRS[:5], "test": PAIRS[:3]} | changes
        return load_corpus(
            files(**{name: write_two(tmp_path, name, pairs) for name, pairs in parts.items()})
        ).fingerprint

    prints = [
        fingerprint(),
        fingerprint(train=[*PAIRS, ("a", "b")]),
        fingerprint(train=[(t, s) for s, t in PAIRS]),
        fingerprint(train=PAIRS[::-1]),
        fingerprint(train=[(s, f"{t}!") for s, t in PAIRS]),
        fingerprint(valid=PAIRS[:4]),
        fingerprint(test=[("a", "b")]),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint() == prints[0]
    assert len(prints[0]) == 64


# The Hub, and local directories that look like it


def hub(directory: Path, **changes: object) -> dict[str, object]:
    return {"kind": "hub", "source": "en", "target": "de", "path": str(directory), "valid_size": 3} | changes


def test_splits_of_a_data_set_become_parts(tmp_path: Path):
    for name, count in (("train", 17), ("validation", 5), ("test", 3)):
        write_jsonl(tmp_path, name, PAIRS[:count])
    corpus = load_corpus(hub(tmp_path))
    assert (len(corpus.train), len(corpus.valid), len(corpus.tests["test"])) == (17, 5, 3)
    assert (corpus.valid.sources[0], corpus.valid.targets[0]) == PAIRS[0]
    swapped = load_corpus(hub(tmp_path, splits={"test": "validation", "valid": "test"}, source="de", target="en"))
    assert (len(swapped.valid), len(swapped.tests["test"])) == (3, 5)
    assert swapped.train.targets[0] == PAIRS[0][0]


def test_a_translation_dictionary_serves_as_columns(tmp_path: Path):
    rows = [json.dumps({"id": i, "translation": {"en": s, "de": t}}) for i, (s, t) in enumerate(PAIRS)]
    write_lines(tmp_path / "train.jsonl", rows)
    corpus = load_corpus(hub(tmp_path))
    assert set(corpus.train.sources + corpus.valid.sources) == {s for s, _ in PAIRS}


def test_without_a_validation_split_pairs_are_taken_out_of_training(tmp_path: Path):
    write_jsonl(tmp_path, "train", PAIRS)
    corpus = load_corpus(hub(tmp_path))
    parts = [list(zip(text.sources, text.targets, strict=True)) for text in (corpus.train, corpus.valid)]
    assert [len(part) for part in parts] == [14, 3]
    assert sorted(parts[0] + parts[1]) == sorted(PAIRS)
    assert parts[1] != PAIRS[:3]
    assert corpus.tests == {}
    assert load_corpus(hub(tmp_path)) == corpus
    assert load_split(hub(tmp_path), "valid") == corpus.valid
    with pytest.raises(UserError, match=r"data\.valid_size=17 leaves nothing of 17 training pairs"):
        load_corpus(hub(tmp_path, valid_size=17))


def test_a_local_data_set_is_read_anew(tmp_path: Path):
    path = Path(write_jsonl(tmp_path, "train", PAIRS))
    stamp = path.stat()
    load_corpus(hub(tmp_path))
    write_jsonl(tmp_path, "train", [(s, t.replace("Ziel", "Wort")) for s, t in PAIRS])
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert all(target.startswith("Wort") for target in load_corpus(hub(tmp_path)).train.targets)


@pytest.mark.parametrize("splits", [{"train": "training"}, {"valid": "dev"}, {"test": "test2"}])
def test_a_split_that_is_not_there_names_those_that_are(tmp_path: Path, splits: dict[str, str]):
    for name in ("train", "validation"):
        write_jsonl(tmp_path, name, PAIRS)
    [(part, name)] = splits.items()
    with pytest.raises(UserError, match=rf"no split '{name}', only train, validation; set data\.splits\.{part}"):
        load_corpus(hub(tmp_path, splits=splits))


def test_a_missing_column_is_named(tmp_path: Path):
    write_jsonl(tmp_path, "train", PAIRS)
    with pytest.raises(UserError, match=r"row 1: no column 'fr', only .*; set data\.source_column"):
        load_corpus(hub(tmp_path, source="fr"))


@pytest.mark.parametrize("kind", ["hub", "multi30k"])
def test_an_unreachable_data_set_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, kind: str):
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("no\n   route")

    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    with pytest.raises(
        UserError, match=r"cannot load the data set some/set: ConnectionError: no route; .*data\.root=.*data=pocket"
    ):
        load_corpus(hub(Path("some/set"), kind=kind, root=None))


# The corpora by name


def test_multi30k_is_read_from_local_files(tmp_path: Path):
    for name, count in (("train", 17), ("val", 5), ("test_2016_flickr", 3)):
        for side, language in enumerate(("en", "fr")):
            write_lines(tmp_path / f"{name}.{language}", [pair[side] for pair in PAIRS[:count]])
    corpus = load_corpus({"kind": "multi30k", "source": "fr", "target": "en", "root": str(tmp_path)})
    assert (len(corpus.train), len(corpus.valid), len(corpus.tests["test"])) == (17, 5, 3)
    assert (corpus.train.sources[0], corpus.train.targets[0]) == PAIRS[0][::-1]


@pytest.mark.skipif(not MULTI30K.is_dir(), reason="needs the Multi30k files beside the repository")
def test_multi30k_has_its_published_sizes():
    corpus = load_corpus({"kind": "multi30k", "source": "en", "target": "de", "root": str(MULTI30K)})
    assert (len(corpus.train), len(corpus.valid), len(corpus.tests["test"])) == (29_000, 1_014, 1_000)


POCKET = {"kind": "pocket", "source": "en", "target": "de", "train_size": 19, "valid_size": 7, "test_size": 5}


def test_the_embedded_corpus_has_two_test_parts_and_two_directions():
    corpus = load_corpus(POCKET)
    back = load_corpus(POCKET | {"source": "de", "target": "en"})
    assert (len(corpus.train), len(corpus.valid)) == (19, 7)
    assert {name: len(text) for name, text in corpus.tests.items()} == {"test": 5, "test_unseen": 5}
    assert next(iter(corpus.tests)) == "test"
    assert (back.train.sources, back.train.targets) == (corpus.train.targets, corpus.train.sources)


def test_the_embedded_corpus_is_english_and_german():
    with pytest.raises(UserError, match=r"data=pocket is English and German, not data\.source=en data\.target=fr"):
        load_corpus(POCKET | {"source": "en", "target": "fr"})


def test_a_smaller_embedded_corpus_is_the_beginning_of_a_larger_one():
    small, large = (load_split(POCKET | {"train_size": size}, "train") for size in (5, 19))
    assert (small.sources, small.targets) == (large.sources[:5], large.targets[:5])
    assert len(load_split(POCKET | {"valid_size": 500}, "valid")) == 500


@pytest.mark.parametrize(
    ("changes", "split", "message"),
    [
        (
            {"train_size": 40001},
            "train",
            r"data\.train_size=40001: pocket has 40000 pairs in train; `python -m pocket ",
        ),
        (
            {"test_size": 501},
            "test_unseen",
            r"data\.test_size=501: pocket has 500 pairs in test_unseen; .*--test-size N",
        ),
        ({"valid_size": -1}, "valid", r"data\.valid_size=-1: pocket has 500 pairs in valid"),
        ({"seed": 3}, "train", r"data\.seed=3: the pocket corpus that comes with the program was drawn with 7; "),
        ({}, "dev", "this corpus has no dev part"),
    ],
)
def test_what_the_embedded_corpus_does_not_have_is_told(changes: dict[str, int], split: str, message: str):
    with pytest.raises(UserError, match=message):
        load_split(POCKET | changes, split)


def test_the_seed_that_older_checkpoints_remember_is_that_of_the_corpus():
    assert load_corpus(POCKET | {"seed": 7}) == load_corpus(POCKET)
