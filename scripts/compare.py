"""Compare trainings: python scripts/compare.py checkpoints/A checkpoints/B ... [--output-dir DIR]

Bundles whose names differ in seed-N alone are one variant; the first one named is the baseline, and variants stand in
the order in which they are named: after a sweep, checkpoints/attention_study_*-{mha,gqa,mqa,window}. All translate the
same split, one after the other, each with the search that its bundle holds. Prints a page in Markdown: BLEU as mean and
standard deviation over seeds, the p of sacreBLEU's paired bootstrap against the baseline (one a seed), parameters,
bytes of keys and values, and speeds; then how all were trained. With --output-dir it is comparison.md there, beside
comparison.json, .csv and .png; nothing that exists is overwritten.
"""

import argparse
import csv
import json
import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter, say
from translator.cli.translate_flags import OneLineParser
from translator.errors import UserError, at_least

PROGRAM = "compare.py"
FILES = ("comparison.md", "comparison.json", "comparison.csv", "comparison.png")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(levelname)s: %(message)s", stream=sys.stderr)
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", f"scripts/{PROGRAM}", *arguments])
    return exit_status(PROGRAM, lambda: LineWriter("-").write(compared(build_parser().parse_args(arguments), command)))


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directories", metavar="DIR", type=Path, nargs="+", help="bundles, the baseline first")
    parser.add_argument("--split", default="test", help="what all translate: test, valid or another (test)")
    parser.add_argument("--limit", type=int, metavar="N", help="its first lines alone")
    parser.add_argument("--threads", type=int, metavar="N", help="CPU threads (as many as there are cores)")
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="write page, figures and picture there")
    return parser


def compared(found: argparse.Namespace, command: str) -> list[str]:
    """Compare, write what was asked for -> the table and what it stands on."""
    if found.limit is not None:
        at_least("--limit", found.limit, 1)
    from translator.files import refuse_existing

    for name in FILES if found.output_dir is not None else ():
        refuse_existing(found.output_dir / name)
    from translator.device import choose_device, in_words, surroundings
    from translator.inspection.comparison import Trained, compare
    from translator.inspection.comparison_page import page

    def told(run: Trained) -> None:
        say(f"{run.directory}: BLEU {run.bleu:.2f}", PROGRAM)

    around = surroundings(choose_device("auto", "float32", found.threads)[0])
    variants, text = compare([*dict.fromkeys(found.directories)], found.split, found.limit, told)
    lines = page(variants, text, found.split, f"`{command}`: {in_words(around)}")
    if found.output_dir is not None:
        _write(found.output_dir, lines, [variant.figures() for variant in variants])
    return lines


def _write(folder: Path, lines: Sequence[str], figures: Sequence[dict[str, Any]]) -> None:
    """The page, the figures twice, and the picture."""
    from translator.inspection.plots import draw_comparison

    page, values, table, picture = (folder / name for name in FILES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        values.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(figures[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()} for row in figures
            )
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}") from error
    draw_comparison(figures, picture)


if __name__ == "__main__":
    sys.exit(main())
