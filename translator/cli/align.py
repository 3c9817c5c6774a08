"""Cross-attention of every layer and head for a pair: in the terminal, as a picture, as a page, as figures."""

import argparse
import json
import shutil
from typing import TYPE_CHECKING

from translator.alignment.steps import ALIGN_STEPS
from translator.cli.command import Command, write_file
from translator.cli.parser import head_numbers
from translator.errors import UserError

if TYPE_CHECKING:
    from translator.inspection.pair import PairAttention


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--source", required=True, action="append", metavar="S", help="the source; again for more pairs")
    add("--target", action="append", metavar="T", help="its translation, one a source (the model's own)")
    add("--layer", type=int, metavar="L", help="decoder layer from 0 (the bundle's best, or all)")
    add("--heads", type=_heads, metavar="0,3|mean|best", help="heads to average (the best, or all)")
    add("--step", choices=ALIGN_STEPS, help="name a row after what it writes, or reads (the best, output)")
    add("--png", metavar="F", help="draw all layers and heads")
    add("--html", metavar="F", help="write one page for a browser, with attention of all kinds")
    add("--json", metavar="F", help="write all weights; - is stdout, in place of the heat map")


def _heads(text: str) -> str | tuple[int, ...]:
    heads = head_numbers(text)
    if isinstance(heads, str) and heads not in ("mean", "best"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither mean nor best nor numbers such as 0,3")
    return heads


def _align(found: argparse.Namespace) -> list[str]:
    """A heat map a pair for the terminal, and the files that were asked for."""
    from translator.bundle import read_config
    from translator.inference.translator import Translator
    from translator.inspection.page.build import build_page
    from translator.inspection.pair import attend
    from translator.inspection.plots import draw_attention

    targets: list[str | None] = found.target or [None] * len(found.source)
    if len(targets) != len(found.source):
        counts = f"{len(found.source)} --source but {len(targets)} --target"
        raise UserError(f"{counts}: give each source its target, in order, or none at all")
    if found.png and len(found.source) > 1:
        raise UserError("a picture shows one pair: leave out --png or give one --source (--html takes several)")
    translator = Translator.load(found.directory, device="cpu")
    pairs = [
        attend(translator, source, target, layer=found.layer, heads=found.heads, step=found.step)
        for source, target in zip(found.source, targets, strict=True)
    ]
    if found.png:
        draw_attention(pairs[0], found.png)
    outputs: list[tuple[str, list[str]]] = []
    if found.json:
        outputs.append((found.json, [json.dumps(pair.to_dict(), ensure_ascii=False) for pair in pairs]))
    if found.html:
        config = read_config(found.directory)
        page = build_page(pairs, found.directory.resolve().name, (config["source"], config["target"]))
        outputs.append((found.html, [page]))
    for path, lines in outputs:
        if path != "-":
            write_file(path, lines)
    printed = [line for path, lines in outputs if path == "-" for line in lines]
    return printed or [line for pair in pairs for line in ["", *_heat_map(pair)]][1:]


def _heat_map(pair: "PairAttention") -> list[str]:
    from translator.inspection.heatmap import LEGEND, heatmap, printable

    columns = shutil.get_terminal_size().columns
    drawn = heatmap(pair.mean(), pair.rows, pair.source_pieces, columns)
    return [printable(pair.source), printable(pair.target), "", f"{pair.reading_name}: {LEGEND}", "", *drawn]


COMMAND = Command(__doc__, _add_flags, _align)
