"""Compare trainings: %(prog)s checkpoints/A checkpoints/B ... [--output-dir DIR]

Bundles whose names differ in seed-N alone are one variant; the first one named is the baseline, and variants stand in
the order in which they are named: after a sweep, checkpoints/attention_study_*-{mha,gqa,mqa,window}. All translate the
same split, one after the other, each with the search that its bundle holds. Prints a page in Markdown: BLEU as mean and
standard deviation over seeds, the p of sacreBLEU's paired bootstrap against the baseline (one a seed), parameters,
bytes of keys and values, and speeds; then how all were trained. With --output-dir it is comparison.md there, beside
comparison.json, .csv and .png; nothing that exists is overwritten.
"""

import argparse
import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from translator.cli.command import Command, write_file
from translator.cli.streams import say
from translator.errors import at_least
from translator.files import make_folder, refuse_existing

FILES = ("comparison.md", "comparison.json", "comparison.csv", "comparison.png")


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("directories", metavar="DIR", type=Path, nargs="+", help="bundles, the baseline first")
    add("--split", default="test", help="what all translate: test, valid or another (test)")
    add("--limit", type=int, metavar="N", help="its first lines alone")
    add("--threads", type=int, metavar="N", help="CPU threads (as many as there are cores)")
    add("--output-dir", type=Path, metavar="DIR", help="write page, figures and picture there")


def _compare(found: argparse.Namespace) -> list[str]:
    """Compare, write what was asked for -> the table and what it stands on."""
    if found.limit is not None:
        at_least("--limit", found.limit, 1)
    for name in FILES if found.output_dir is not None else ():
        refuse_existing(found.output_dir / name)
    from translator.device import choose_device, in_words, surroundings
    from translator.inspection.comparison import Trained, compare
    from translator.inspection.comparison_page import page
    from translator.inspection.plots import draw_comparison

    def told(run: Trained) -> None:
        say(f"{run.directory}: BLEU {run.bleu:.2f}", found.program)

    around = surroundings(choose_device("auto", "float32", found.threads)[0])
    variants, text = compare([*dict.fromkeys(found.directories)], found.split, found.limit, told)
    lines = page(variants, text, found.split, f"`{found.typed}`: {in_words(around)}")
    if found.output_dir is not None:
        make_folder(found.output_dir)
        figures = [variant.figures() for variant in variants]
        paths = [str(found.output_dir / name) for name in FILES]
        for path, content in zip(paths, (lines, [json.dumps(figures, indent=2)], _csv(figures)), strict=False):
            write_file(path, content)
        draw_comparison(figures, paths[-1])
    return lines


def _csv(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(figures[0]), lineterminator="\n")
    writer.writeheader()
    for row in figures:
        writer.writerow({k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()})
    return text.getvalue().splitlines()


COMMAND = Command(__doc__, _add_flags, _compare, on_bundle=False)
