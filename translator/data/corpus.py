"""Parallel text for training and evaluation: the embedded corpus, Multi30k, files, or any set on the Hub."""

import hashlib
import logging
import random
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translator.data.parallel import ParallelText, read_parallel
from translator.data.tables import TABLE_READERS, Sides, one_line, read_parquet, sides
from translator.errors import UserError, one_of

logger = logging.getLogger("translator")

Config = Mapping[str, Any]
Reader = Callable[[str], ParallelText | None]  # None: there is no such part

POCKET = Path(__file__).with_name("pocket")  # the tables that `python -m pocket` at the top of the repository wrote
POCKET_SEED = 7  # of the corpus that they hold
# The parts, and the settings that say how many pairs of each are used.
POCKET_SIZES = {"train": "train_size", "valid": "valid_size", "test": "test_size", "test_unseen": "test_size"}
MULTI30K_NAMES = {"train": ("train",), "valid": ("val", "valid"), "test": ("test_2016_flickr", "test*")}
HUB_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
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
    digest = hashlib.sha256()
    for name, text in {"train": train, "valid": valid, **tests}.items():
        for side in (text.sources, text.targets):
            digest.update(f"{name} {len(side)}\n".encode())
            digest.update("\n".join(side).encode())
    return Corpus(used, valid, tests, digest.hexdigest())


def load_split(config: Config, split: str) -> ParallelText:
    """Reads one part ("train", "valid", "test", for pocket also "test_unseen") and leaves it as it is.

    Raises UserError as `load_corpus` does, and where the corpus has no such part.
    """
    return _wanted(_reader(config), split)


def _reader(config: Config) -> Reader:
    kinds = {"pocket": _pocket, "multi30k": _multi30k, "files": _files, "hub": _hub}
    one_of("data.kind", config["kind"], kinds)
    return kinds[config["kind"]](config)


def _wanted(read: Reader, split: str) -> ParallelText:
    text = read(split)
    if text is None:
        raise UserError(f"this corpus has no {split} part; give one with data.{split}=...")
    return text


def _pocket(config: Config) -> Reader:
    languages = (config["source"], config["target"])
    if languages not in {("en", "de"), ("de", "en")}:
        raise UserError(f"data=pocket is English and German, not data.source={languages[0]} data.target={languages[1]}")
    return lambda split: ParallelText(*first_of_pocket(config, split, languages)) if split in POCKET_SIZES else None


def first_of_pocket(config: Config, split: str, columns: tuple[str, str]) -> Sides:
    """Two columns ("en", "de" or "links", written `0-0 1-2`) of the first pairs of a part, as many as `config` says.

    Raises UserError where there are fewer, and where a checkpoint remembers a corpus that is not in the tables.
    """
    if (seed := config.get("seed", POCKET_SEED)) != POCKET_SEED:
        raise UserError(
            f"data.seed={seed}: the pocket corpus that comes with the program was drawn with {POCKET_SEED}; in the "
            f"repository, `python -m pocket --seed {seed} --output DIR` writes the other one, for data=files"
        )
    first, second = read_parquet(str(POCKET / f"{split}.parquet"), columns)
    name, size = POCKET_SIZES[split], config[POCKET_SIZES[split]]
    if not 0 <= size <= len(first):
        raise UserError(
            f"data.{name}={size}: pocket has {len(first)} pairs in {split}; "
            f"`python -m pocket --{name.replace('_', '-')} N` in the repository writes more"
        )
    return first[:size], second[:size]


def _multi30k(config: Config) -> Reader:
    if config.get("root") is None:
        return _hub(config)
    return lambda split: read_multi30k(Path(config["root"]), split, config["source"], config["target"])


def read_multi30k(root: Path, split: str, source: str, target: str) -> ParallelText | None:
    """A part of Multi30k from local files: train, val and a test set, as NAME.LANGUAGE or NAME.LANGUAGE.gz.

    The test set is test_2016_flickr, or else the first test* that there is in both languages; None without any, and
    for parts other than "train", "valid" and "test".
    Raises UserError for a missing training or validation part.
    """
    for pattern in MULTI30K_NAMES.get(split, ()):
        for path in sorted(root.glob(f"{pattern}.{source}")) + sorted(root.glob(f"{pattern}.{source}.gz")):
            stem = path.name.removesuffix(".gz").removesuffix(source)
            for other in (root / f"{stem}{target}", root / f"{stem}{target}.gz"):
                if other.exists():
                    return read_parallel(path, other)
    if split not in ("train", "valid"):
        return None
    name = MULTI30K_NAMES[split][0]
    raise UserError(
        f"{root} has no {name}.{source} and {name}.{target} (or .gz): "
        "data.root must be the directory with these files; without any, take data=pocket"
    )


def _files(config: Config) -> Reader:
    def read(split: str) -> ParallelText | None:
        paths = config.get(split)
        if paths is None:
            return None
        if isinstance(paths, str):
            return _table(paths, _columns(config))
        if len(paths) != 2:
            raise UserError(f"data.{split} names {len(paths)} files; it takes [SOURCE,TARGET] or one table")
        return read_parallel(*paths)

    return read


def _table(path: str, columns: tuple[str, str]) -> ParallelText:
    kind = Path(path.removesuffix(".gz")).suffix.lower()
    if kind not in TABLE_READERS:
        known = ", ".join(TABLE_READERS)
        raise UserError(f"{path}: a table ends in {known}; two parallel files are given as [SOURCE,TARGET]")
    return ParallelText(*TABLE_READERS[kind](path, columns))


def _columns(config: Config) -> tuple[str, str]:
    return config.get("source_column") or config["source"], config.get("target_column") or config["target"]


def _hub(config: Config) -> Reader:
    names = {**HUB_SPLITS, **(config.get("splits") or {})}
    data = _load_dataset(config["path"], config.get("name"), config.get("revision"))
    for part, name in names.items():
        if name not in data and name is not None and (part == "train" or name != HUB_SPLITS.get(part)):
            raise UserError(f"{config['path']} has no split {name!r}, only {', '.join(data)}; set data.splits.{part}")

    def pairs(part: str) -> ParallelText:
        rows = ((f"{config['path']}, row {number}", row) for number, row in enumerate(data[names[part]], 1))
        return ParallelText(*sides(rows, _columns(config)))

    def read(split: str) -> ParallelText | None:
        if names.get(split) in data and (split != "train" or names["valid"] in data):
            return pairs(split)
        return _carved(pairs("train"), split, config["valid_size"]) if split in ("train", "valid") else None

    return read


def _load_dataset(path: str, name: str | None, revision: str | None) -> Mapping[str, Any]:
    """All splits of a data set, without running code from it; a local one is read anew, not taken from a cache."""
    import datasets

    with tempfile.TemporaryDirectory() as directory:
        cache = directory if Path(path).exists() else None
        try:
            splits = datasets.load_dataset(path, name, revision=revision, cache_dir=cache, keep_in_memory=True)
        except Exception as error:
            raise UserError(
                f"cannot load the data set {path}: {one_line(error)}; where it can't be reached: "
                "data.root=DIRECTORY for local Multi30k files, data=files, or data=pocket"
            ) from error
    return dict(splits)


def _carved(train: ParallelText, split: str, valid_size: int) -> ParallelText:
    """Training or validation part of a set without a validation part: `valid_size` pairs drawn from its training."""
    if valid_size >= len(train):
        raise UserError(f"data.valid_size={valid_size} leaves nothing of {len(train)} training pairs")
    drawn = set(random.Random(CARVING_SEED).sample(range(len(train)), valid_size))
    kept = [index for index in range(len(train)) if (index in drawn) == (split == "valid")]
    return ParallelText([train.sources[index] for index in kept], [train.targets[index] for index in kept])
