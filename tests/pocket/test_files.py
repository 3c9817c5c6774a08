"""The corpus that every published score of pocket was measured on stays that corpus, pair for pair."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet
import pytest

from pocket import SPLITS
from pocket.__main__ import COLUMNS, main
from tests.pocket.packaged import FOLDER, packaged
from translator.data.corpus import load_corpus

POCKET = {"kind": "pocket", "train_size": 40_000, "valid_size": 500, "test_size": 500}
# The first 16 digits of the SHA-256 of English lines, German lines and links (`0-0 1-2`), each line with its line end.
DIGESTS = {
    "train": ("58fbec4b5b285e43", "044fc2fa9fad2d15", "bdefad7fc49a401b"),
    "valid": ("2dcfce497d1f70e6", "54543c7208c9c841", "702763d27079d399"),
    "test": ("a0bc08402515c0c2", "0dfe2b6e0d69622e", "4ec799dc06637b4b"),
    "test_unseen": ("ceebcafd2a610fba", "ba8422a1b9bdfac8", "11d0389d7b3e2403"),
}
FINGERPRINTS = {
    ("en", "de"): "b87fff2afc6f203c00089b76b95e7c206f1d2702b18520342cb971d66daa05a2",
    ("de", "en"): "d6cbc7a2210e72393f459571e2a56a5091172866aed8e4a745ed67450ffdd6cb",
}


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:16]


@pytest.mark.parametrize("split", DIGESTS)
def test_every_line_and_link_is_as_ever(split: str) -> None:
    pairs = packaged(split)
    links = [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs]
    found = [pair.source for pair in pairs], [pair.target for pair in pairs], links
    assert tuple(map(digest, found)) == DIGESTS[split]


@pytest.mark.parametrize(("source", "target"), FINGERPRINTS)
def test_the_fingerprint_is_as_ever(source: str, target: str) -> None:
    corpus = load_corpus(POCKET | {"source": source, "target": target})
    assert corpus.fingerprint == FINGERPRINTS[source, target]


def test_the_files_are_small_and_alone() -> None:
    files = [path for path in FOLDER.iterdir() if path.name != "__pycache__"]
    assert {path.name for path in files} == {f"{split}.parquet" for split in SPLITS}
    assert sum(path.stat().st_size for path in files) <= 1_000_000


def lines(split: str, name: str) -> list[str]:
    return pyarrow.parquet.read_table(FOLDER / f"{split}.parquet")[name].to_pylist()


def test_the_generator_writes_what_the_package_has(tmp_path: Path) -> None:
    """As text, which takes half the time."""
    main(["--format", "text", "--output", str(tmp_path / "new")])
    for split in SPLITS:
        for name in COLUMNS:
            text = (tmp_path / "new" / f"{split}.{name}").read_bytes().decode()
            assert text == "".join(f"{line}\n" for line in lines(split, name)), (split, name)


def test_a_smaller_corpus_is_the_beginning_and_another_seed_another_one(tmp_path: Path) -> None:
    sizes = {"train": 17, "valid": 5, "test": 3, "test_unseen": 3}
    flags = [f"--{part}-size={size}" for part, size in sizes.items() if part != "test_unseen"]
    main(["--output", str(tmp_path), *flags])
    main(["--output", str(tmp_path / "other"), "--seed", "8", *flags])
    for split, size in sizes.items():
        for name in COLUMNS:
            found = pyarrow.parquet.read_table(tmp_path / f"{split}.parquet")[name].to_pylist()
            assert found == lines(split, name)[:size]
        other = pyarrow.parquet.read_table(tmp_path / "other" / f"{split}.parquet")["en"].to_pylist()
        assert len(other) == size
        assert other != lines(split, "en")[:size]
