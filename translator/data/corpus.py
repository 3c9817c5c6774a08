"""Parallel text for training and evaluation: the embedded corpus, Multi30k, files, or any set on the Hub."""

import hashlib
import logging
import random
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translator.data.parallel import ParallelText, read_multi30k, read_parallel
from translator.data.pocket_tables import POCKET_SIZES, first_of_pocket
from translator.data.tables import TABLE_READERS, Sides, one_line, sides
from translator.errors import UserError

logger = logging.getLogger("translator")

Config = Mapping[str, Any]
Reader = Callable[[str], ParallelText | None]  # from the name of a part to its pairs; None: there is no such part

HUB_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
OFFLINE = "where it can't be reached: data.root=DIRECTORY for local Multi30k files, data=files, or data=pocket"
CARVED = ("train", "valid")  # the parts that come out of the training split where that is all there is
CARVING_SEED = 0  # the same pairs in every run, whatever the run's own seed


@dataclass(frozen=True)
class Corpus:
    """What a run learns from and is measured on.

    `train` has no pair with a blank side. `valid` and `tests` are untouched: no reference altered, no line left out.
    `tests` begins with "test" where there is one. `fingerprint`: SHA-256 of every line of every part.
    """

    train: ParallelText
    valid: ParallelText
    tests: dict[str, ParallelText]
    source_lang: str
    target_lang: str
    fingerprint: str


def load_corpus(config: Config) -> Corpus:
    """Reads all parts of a corpus. The keys of `config`, and what they mean, stand in conf/data.

    Raises UserError for whatever is missing, malformed, or of unequal length.
    """
    read = _reader(config)
    train, valid = _wanted(read, "train"), _wanted(read, "valid")
    tests = {name: text for name in ("test", "test_unseen") if (text := read(name)) is not None}
    used = train.without_blank_sides()
    logger.info("train: %d pairs used, %d dropped for a blank side", len(used), used.dropped)
    for name, text in (("train", used), ("valid", valid.without_blank_sides())):
        if not len(text):
            raise UserError(f"the {name} part of the data has no pair with text on both sides")
    fingerprint = _fingerprint({"train": train, "valid": valid, **tests})
    return Corpus(used, valid, tests, config["source"], config["target"], fingerprint)


def load_split(config: Config, split: str) -> ParallelText:
    """Reads one part ("train", "valid", "test", for pocket also "test_unseen") and leaves it as it is.

    Raises UserError as `load_corpus` does, and where the corpus has no such part.
    """
    return _wanted(_reader(config), split)


def _reader(config: Config) -> Reader:
    kinds: dict[str, Callable[[Config], Reader]]
    kinds = {"pocket": _pocket, "multi30k": _multi30k, "files": _files, "hub": _hub}
    if config["kind"] not in kinds:
        raise UserError(f"data.kind is {config['kind']!r}; it must be one of {', '.join(kinds)}")
    return kinds[config["kind"]](config)


def _wanted(read: Reader, split: str) -> ParallelText:
    text = read(split)
    if text is None:
        raise UserError(f"this corpus has no {split} part; give one with data.{split}=...")
    return text


def _fingerprint(parts: Mapping[str, ParallelText]) -> str:
    digest = hashlib.sha256()
    for name, text in parts.items():
        for side in (text.sources, text.targets):
            digest.update(f"{name} {len(side)}\n".encode())
            digest.update("\n".join(side).encode())
    return digest.hexdigest()


# The embedded corpus


def _pocket(config: Config) -> Reader:
    languages = (config["source"], config["target"])
    if languages not in {("en", "de"), ("de", "en")}:
        raise UserError(f"data=pocket is English and German, not data.source={languages[0]} data.target={languages[1]}")
    return lambda split: ParallelText(*first_of_pocket(config, split, languages)) if split in POCKET_SIZES else None


# Local files


def _multi30k(config: Config) -> Reader:
    if config.get("root") is None:
        return _hub(config)
    return lambda split: read_multi30k(Path(config["root"]), split, config["source"], config["target"])


def _files(config: Config) -> Reader:
    def read(split: str) -> ParallelText | None:
        paths = config.get(split)
        if paths is None:
            return None
        if isinstance(paths, str):
            return ParallelText(*_table(paths, _columns(config)))
        if len(paths) != 2:
            raise UserError(f"data.{split} names {len(paths)} files; it takes [SOURCE,TARGET] or one table")
        return read_parallel(*paths)

    return read


def _table(path: str, columns: tuple[str, str]) -> Sides:
    kind = Path(path.removesuffix(".gz")).suffix.lower()
    if kind not in TABLE_READERS:
        known = ", ".join(TABLE_READERS)
        raise UserError(f"{path}: a table ends in {known}; two parallel files are given as [SOURCE,TARGET]")
    return TABLE_READERS[kind](path, columns)


def _columns(config: Config) -> tuple[str, str]:
    source, target = config.get("source_column"), config.get("target_column")
    return source or config["source"], target or config["target"]


# The Hub


def _hub(config: Config) -> Reader:
    names = {**HUB_SPLITS, **(config.get("splits") or {})}
    data = _load_dataset(config)
    for part, name in names.items():
        if name not in data and name is not None and (part == "train" or name != HUB_SPLITS.get(part)):
            raise UserError(f"{config['path']} has no split {name!r}, only {', '.join(data)}; set data.splits.{part}")

    def read(split: str) -> ParallelText | None:
        if names.get(split) in data and (split != "train" or names["valid"] in data):
            return _pairs(config, data[names[split]])
        return _carved(_pairs(config, data[names["train"]]), split, config["valid_size"]) if split in CARVED else None

    return read


def _load_dataset(config: Config) -> Mapping[str, Any]:
    """All splits of a data set, without running code from it; a local one is read anew, not taken from a cache."""
    import datasets

    path, name, revision = config["path"], config.get("name"), config.get("revision")
    with tempfile.TemporaryDirectory() as directory:
        cache = directory if Path(path).exists() else None
        try:
            splits = datasets.load_dataset(path, name, revision=revision, cache_dir=cache, keep_in_memory=True)
        except Exception as error:
            raise UserError(f"cannot load the data set {path}: {one_line(error)}; {OFFLINE}") from error
    return dict(splits)


def _pairs(config: Config, rows: Any) -> ParallelText:
    named = ((f"{config['path']}, row {number}", row) for number, row in enumerate(rows, 1))
    return ParallelText(*sides(named, _columns(config)))


def _carved(train: ParallelText, split: str, valid_size: int) -> ParallelText:
    """Training or validation part of a set without a validation part: `valid_size` pairs drawn from its training."""
    if valid_size >= len(train):
        raise UserError(f"data.valid_size={valid_size} leaves nothing of {len(train)} training pairs")
    drawn = set(random.Random(CARVING_SEED).sample(range(len(train)), valid_size))
    kept = [index for index in range(len(train)) if (index in drawn) == (split == "valid")]
    return ParallelText([train.sources[index] for index in kept], [train.targets[index] for index in kept])
