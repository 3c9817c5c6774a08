"""Write the corpus: `python -m pocket [--output DIR] [--seed N] [--train-size N] [--format text]`.

What is written without any flag is what the package has.
"""

import argparse
from pathlib import Path

import pyarrow
import pyarrow.parquet

from . import SPLITS, generate

PACKAGE = Path(__file__).parents[1] / "translator" / "data" / "pocket"
COLUMNS = ("en", "de", "links")


def main(arguments: list[str] | None = None) -> None:
    """Write every split to its file, or its files of lines."""
    given = _parser().parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    sizes = {"train": given.train_size, "valid": given.valid_size, "test": given.test_size}
    for split in SPLITS:
        pairs = generate(split, sizes[split.removesuffix("_unseen")], given.seed)
        links = [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs]
        columns = dict(zip(COLUMNS, ([p.source for p in pairs], [p.target for p in pairs], links), strict=True))
        (_write_text if given.format == "text" else _write_parquet)(given.output / split, columns)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pocket", description="Write the pocket corpus.")
    parser.add_argument("--output", type=Path, default=PACKAGE, metavar="DIR", help="default: the package's own files")
    parser.add_argument("--seed", type=int, default=7, metavar="N", help="which corpus is drawn (default 7)")
    for part, size in (("train", 40_000), ("valid", 500), ("test", 500)):
        parser.add_argument(f"--{part}-size", type=int, default=size, metavar="N", help=f"pairs (default {size})")
    parser.add_argument(
        "--format", choices=["parquet", "text"], default="parquet", help="text: files of lines such as train.en"
    )
    return parser


def _write_parquet(path: Path, columns: dict[str, list[str]]) -> None:
    """As small as it gets: few links differ, so a dictionary holds them; no line is there twice."""
    table = pyarrow.table({name: pyarrow.array(lines, pyarrow.string()) for name, lines in columns.items()})
    smallest = {"compression": "brotli", "compression_level": 11, "use_dictionary": ["links"]}
    pyarrow.parquet.write_table(table, path.with_suffix(".parquet"), write_statistics=False, **smallest)


def _write_text(path: Path, columns: dict[str, list[str]]) -> None:
    for name, lines in columns.items():
        path.with_suffix(f".{name}").write_bytes("".join(f"{line}\n" for line in lines).encode())


if __name__ == "__main__":
    main()
