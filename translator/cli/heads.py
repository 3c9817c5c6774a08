"""What each head is worth and looks at."""

import argparse

from translator.cli.command import Command, table_or_json
from translator.cli.parser import add_pairs


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add_pairs(parser)
    add = parser.add_argument
    add("--explain", type=int, default=20, metavar="N", help="test weights as explanations on N (20)")
    links = "add how well heads align (pocket: its own links)"
    add("--gold", nargs=3, metavar=("SOURCE", "TARGET", "LINKS"), help=links)
    add("--png", metavar="F", help="draw importance, loss of BLEU, entropy and likeness")
    add("--json", metavar="F", help="write all figures; - is stdout, in place of the table")


def _report(found: argparse.Namespace) -> list[str]:
    """A table of all heads, and the files that were asked for; progress goes to stderr."""
    from translator.alignment.gold import pocket_gold, read_gold
    from translator.bundle import read_config
    from translator.inference.translator import Translator
    from translator.inspection.heads.plots import draw_heads
    from translator.inspection.heads.report import report
    from translator.inspection.heads.study import Study, load_text

    translator, config = Translator.load(found.directory, device="cpu"), read_config(found.directory)
    text = load_text(config, found.directory, found.data, found.split, found.limit)
    gold = read_gold(*found.gold) if found.gold else None
    if gold is None and not found.data and (config.get("data") or {}).get("kind") == "pocket":
        gold = pocket_gold(config, found.split).first(found.limit)
    made = report(Study(translator, text), found.explain, gold)
    if found.png:
        draw_heads(made, found.png)
    return table_or_json(made.lines(), made.to_dict(), found.json)


COMMAND = Command(__doc__, _add_flags, _report, talks=True)
