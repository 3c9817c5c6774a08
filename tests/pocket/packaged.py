"""The corpus as the package has it."""

from pathlib import Path

import translator
from pocket import Pair
from translator.data.tables import read_parquet

FOLDER = Path(translator.__file__).parent / "data" / "pocket"


def packaged(split: str) -> list[Pair]:
    """All pairs of a split, read as a user's own table would be."""
    path = str(FOLDER / f"{split}.parquet")
    english, german = read_parquet(path, ("en", "de"))
    lines, _ = read_parquet(path, ("links", "en"))
    links = [tuple((int(i), int(j)) for i, j in (link.split("-") for link in line.split())) for line in lines]
    return [Pair(*pair) for pair in zip(english, german, links, strict=True)]
