"""`inspect_checkpoint.py DIR align`: attention for pairs, in the terminal, as a picture, as a page, as figures."""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from translator.alignment.steps import ALIGN_STEPS
from translator.cli.output import write_file
from translator.errors import UserError

if TYPE_CHECKING:
    from translator.inspection.pair import PairAttention


def add_align(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The flags."""
    align = commands.add_parser("align", help="cross-attention of every layer and head for a pair", allow_abbrev=False)
    align.set_defaults(look=show_attention)
    align.add_argument("--source", required=True, action="append", metavar="S", help="the source; again for more pairs")
    align.add_argument("--target", action="append", metavar="T", help="its translation, one a source (the model's own)")
    align.add_argument("--layer", type=int, metavar="L", help="decoder layer from 0 (the bundle's best, or all)")
    align.add_argument("--heads", type=_heads, metavar="0,3|mean|best", help="heads to average (the best, or all)")
    align.add_argument(
        "--step", choices=ALIGN_STEPS, help="name a row after what it writes, or reads (the best, output)"
    )
    align.add_argument("--png", metavar="F", help="draw all layers and heads")
    align.add_argument("--html", metavar="F", help="write one page for a browser, with attention of all kinds")
    align.add_argument("--json", metavar="F", help="write all weights; - is stdout, in place of the heat map")


def show_attention(found: argparse.Namespace) -> list[str]:
    """A heat map a pair for the terminal, and the files that were asked for."""
    from translator.inference.translator import Translator
    from translator.inspection.pair import attend

    targets = _targets(found)
    if found.png and len(found.source) > 1:
        raise UserError("a picture shows one pair: leave out --png or give one --source (--html takes several)")
    translator = Translator.load(found.directory, device="cpu")
    pairs = [
        attend(translator, source, target, layer=found.layer, heads=found.heads, step=found.step)
        for source, target in zip(found.source, targets, strict=True)
    ]
    if found.png:
        from translator.inspection.plots import draw_attention

        draw_attention(pairs[0], found.png)
    outputs = _outputs(found, pairs)
    for path, lines in outputs:
        if path != "-":
            write_file(path, lines)
    printed = [line for path, lines in outputs if path == "-" for line in lines]
    return printed or _heat_maps(pairs)


def _outputs(found: argparse.Namespace, pairs: Sequence["PairAttention"]) -> list[tuple[str, list[str]]]:
    """The files that were asked for, with their lines."""
    outputs: list[tuple[str, list[str]]] = []
    if found.json:
        outputs.append((found.json, [json.dumps(pair.to_dict(), ensure_ascii=False) for pair in pairs]))
    if found.html:
        outputs.append((found.html, [_page(found.directory, pairs)]))
    return outputs


def _targets(found: argparse.Namespace) -> list[str | None]:
    """The target of each source; None where the model is to write it."""
    if found.target is None:
        return [None] * len(found.source)
    if len(found.target) != len(found.source):
        counts = f"{len(found.source)} --source but {len(found.target)} --target"
        raise UserError(f"{counts}: give each source its target, in order, or none at all")
    return list(found.target)


def _page(directory: Path, pairs: Sequence["PairAttention"]) -> str:
    from translator.bundle import read_config
    from translator.inspection.page.build import build_page

    config = read_config(directory)
    return build_page(pairs, directory.resolve().name, (config["source"], config["target"]))


def _heat_maps(pairs: Sequence["PairAttention"]) -> list[str]:
    from translator.inspection.heatmap import LEGEND, heatmap, printable

    lines: list[str] = []
    for pair in pairs:
        lines += [
            *([""] if lines else []),
            printable(pair.source),
            printable(pair.target),
            "",
            f"{pair.reading_name}: {LEGEND}",
            "",
            *heatmap(pair.mean(), pair.rows, pair.source_pieces, shutil.get_terminal_size().columns),
        ]
    return lines


def _heads(text: str) -> str | tuple[int, ...]:
    if text in ("mean", "best"):
        return text
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither mean nor best nor numbers such as 0,3") from error
