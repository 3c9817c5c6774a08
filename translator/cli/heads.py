"""`inspect_checkpoint.py DIR heads`: what each head is worth and looks at."""

import argparse
import logging
from typing import TYPE_CHECKING

from translator.cli.output import table_or_json

if TYPE_CHECKING:
    from translator.alignment.gold import GoldLinks


def add_heads(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The flags."""
    heads = commands.add_parser("heads", help="what each head is worth and looks at", allow_abbrev=False)
    heads.set_defaults(look=report_heads)
    heads.add_argument("--data", nargs=2, metavar=("SOURCE", "TARGET"), help="pairs to look at (the bundle's own)")
    heads.add_argument("--split", default="valid", help="which part of the bundle's own data (valid)")
    heads.add_argument("--limit", type=int, default=200, metavar="N", help="the first N pairs (200); decoded per head")
    heads.add_argument("--explain", type=int, default=20, metavar="N", help="test weights as explanations on N (20)")
    heads.add_argument(
        "--gold",
        nargs=3,
        metavar=("SOURCE", "TARGET", "LINKS"),
        help="add how well heads align (pocket: its own links)",
    )
    heads.add_argument("--png", metavar="F", help="draw importance, loss of BLEU, entropy and likeness")
    heads.add_argument("--json", metavar="F", help="write all figures; - is stdout, in place of the table")


def report_heads(found: argparse.Namespace) -> list[str]:
    """A table of all heads, and the files that were asked for; progress goes to stderr."""
    from translator.bundle import read_config
    from translator.inference.translator import Translator
    from translator.inspection.heads.report import report
    from translator.inspection.heads.study import Study, load_text

    logging.getLogger("translator").setLevel(logging.INFO)
    translator = Translator.load(found.directory, device="cpu")
    text = load_text(read_config(found.directory), found.directory, found.data, found.split, found.limit)
    made = report(Study(translator, text), found.explain, _gold(found))
    if found.png:
        from translator.inspection.heads.plots import draw_heads

        draw_heads(made, found.png)
    return table_or_json(made.lines(), made.to_dict(), found.json)


def _gold(found: argparse.Namespace) -> "GoldLinks | None":
    """The links that were given; else those of the pocket corpus, where its pairs are looked at."""
    from translator.alignment.gold import pocket_gold, read_gold
    from translator.bundle import read_config

    if found.gold:
        return read_gold(*found.gold)
    config = read_config(found.directory)
    is_pocket = (config.get("data") or {}).get("kind") == "pocket"
    return pocket_gold(config, found.split).first(found.limit) if is_pocket and not found.data else None
