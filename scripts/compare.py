"""Compare trainings: python scripts/compare.py checkpoints/A checkpoints/B ... [--output-dir DIR]

Bundles whose names differ in seed-N alone are one variant; the first one named is the baseline. All translate the same
split, one after the other, each with the search that its bundle holds. Prints a table in Markdown: BLEU as mean and
standard deviation over seeds, the p of sacreBLEU's paired bootstrap against the baseline (one a seed), parameters,
bytes of keys and values, and speeds. With --output-dir also comparison.md, .csv, .json and .png.
"""

import argparse
import csv
import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.arguments import OneLineParser
from translator.errors import UserError
from translator.options import at_least
from translator.status import exit_status
from translator.streams import LineWriter, say

PROGRAM = "compare.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(levelname)s: %(message)s", stream=sys.stderr)
    return exit_status(PROGRAM, lambda: LineWriter("-").write(compared(build_parser().parse_args(arguments))))


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directories", metavar="DIR", type=Path, nargs="+", help="bundles, the baseline first")
    parser.add_argument("--split", default="test", help="what all translate: test, valid or another (test)")
    parser.add_argument("--limit", type=int, metavar="N", help="its first lines alone")
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="write table, figures and picture there")
    return parser


def compared(found: argparse.Namespace) -> list[str]:
    """Compare, write what was asked for -> the table and what it stands on."""
    if found.limit is not None:
        at_least("--limit", found.limit, 1)
    import torch

    from translator.inspection.comparison import Trained, compare, markdown

    def told(run: Trained) -> None:
        say(f"{run.directory}: BLEU {run.bleu:.2f}", PROGRAM)

    variants, text = compare(found.directories, found.split, found.limit, told)
    lines = [
        *markdown(variants),
        "",
        f"{len(text.sources)} sentences of {found.split}; {variants[0].runs[0].signature}; torch {torch.__version__}, "
        f"{torch.get_num_threads()} threads on {os.cpu_count()} cores. Command: python scripts/compare.py "
        f"{' '.join(map(str, found.directories))} --split {found.split}",
    ]
    if found.output_dir is not None:
        from translator.inspection.plots import draw_comparison

        figures = [variant.figures() for variant in variants]
        try:
            found.output_dir.mkdir(parents=True, exist_ok=True)
            (found.output_dir / "comparison.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
            (found.output_dir / "comparison.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
            with (found.output_dir / "comparison.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(figures[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(
                    {k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()} for row in figures
                )
        except OSError as error:
            raise UserError(f"cannot write into {found.output_dir}: {error.strerror}") from error
        draw_comparison(figures, found.output_dir / "comparison.png")
    return lines


if __name__ == "__main__":
    sys.exit(main())
