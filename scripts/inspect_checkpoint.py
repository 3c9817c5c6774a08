"""Look into a checkpoint: what it is made of, and where it looks while it translates.

python scripts/inspect_checkpoint.py DIR                     parameters, settings, attention, scores
python scripts/inspect_checkpoint.py DIR align --source S    cross-attention for a sentence and its translation
python scripts/inspect_checkpoint.py DIR heads               what each attention head is worth and looks at
"""

import argparse
import json
import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.arguments import OneLineParser
from translator.errors import UserError
from translator.streams import LineWriter, say

PROGRAM = "inspect_checkpoint.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(levelname)s: %(message)s", stream=sys.stderr)
    try:
        found = build_parser().parse_args(arguments)
        lines = found.look(found)
        LineWriter("-").write(lines)
    except UserError as error:
        say(f"error: {error}", PROGRAM)
        return 2
    except KeyboardInterrupt:
        say("interrupted", PROGRAM)
        return 130
    except BrokenPipeError:
        return 141
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The flags; what to look at is a command of its own, and without one the checkpoint is described."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the bundle, such as checkpoints/pocket")
    parser.set_defaults(look=describe_bundle)
    commands = parser.add_subparsers(title="commands", metavar="")
    align = commands.add_parser("align", help="cross-attention of every layer and head for a pair", allow_abbrev=False)
    align.set_defaults(look=show_attention)
    align.add_argument("--source", required=True, metavar="S", help="the source sentence")
    align.add_argument("--target", metavar="T", help="its translation (the model's own)")
    align.add_argument("--layer", type=int, metavar="L", help="decoder layer from 0 (the bundle's best, or the middle)")
    align.add_argument("--heads", type=_heads, metavar="0,3|mean|best", help="heads to average (the best, or all)")
    align.add_argument("--png", metavar="F", help="draw all layers and heads")
    align.add_argument("--json", metavar="F", help="write all weights; - is stdout, in place of the heat map")
    _add_heads(commands)
    return parser


def _add_heads(commands: "argparse._SubParsersAction[OneLineParser]") -> None:
    heads = commands.add_parser("heads", help="what each head is worth and looks at", allow_abbrev=False)
    heads.set_defaults(look=report_heads)
    heads.add_argument("--data", nargs=2, metavar=("SOURCE", "TARGET"), help="pairs to look at (the bundle's own)")
    heads.add_argument("--split", default="valid", help="which part of the bundle's own data (valid)")
    heads.add_argument("--limit", type=int, default=200, metavar="N", help="the first N pairs (200); decoded per head")
    heads.add_argument("--explain", type=int, default=20, metavar="N", help="test weights as explanations on N (20)")
    heads.add_argument("--png", metavar="F", help="draw importance, loss of BLEU, entropy and likeness")
    heads.add_argument("--json", metavar="F", help="write all figures; - is stdout, in place of the table")


def describe_bundle(found: argparse.Namespace) -> list[str]:
    """What the checkpoint is made of."""
    from translator.checkpoint import METRICS, load_bundle, read_json
    from translator.inspection.summary import describe

    bundle = load_bundle(found.directory)
    path = found.directory / METRICS
    return describe(bundle.model, bundle.config, read_json(path) if path.exists() else {})


def show_attention(found: argparse.Namespace) -> list[str]:
    """A heat map for the terminal, and the files that were asked for."""
    from translator.inference import Translator
    from translator.inspection.heatmap import LEGEND, heatmap, printable
    from translator.inspection.pair import attend

    translator = Translator.load(found.directory, device="cpu")
    pair = attend(translator, found.source, found.target, layer=found.layer, heads=found.heads)
    if found.png:
        from translator.inspection.plots import draw_attention

        draw_attention(pair, found.png)
    if found.json:
        values = json.dumps(pair.to_dict(), ensure_ascii=False)
        if found.json == "-":
            return [values]
        LineWriter(found.json).write([values])
    heads = ", ".join(map(str, pair.reading.heads))
    return [
        printable(pair.source),
        printable(pair.target),
        "",
        f"cross-attention of layer {pair.reading.layer}, mean of heads {heads}: {LEGEND}",
        "",
        *heatmap(pair.mean(), pair.target_pieces, pair.source_pieces, shutil.get_terminal_size().columns),
    ]


def report_heads(found: argparse.Namespace) -> list[str]:
    """A table of all heads, and the files that were asked for; progress goes to stderr."""
    from translator.checkpoint import read_config
    from translator.inference import Translator
    from translator.inspection.head_report import report
    from translator.inspection.study import Study, load_text

    logging.getLogger("translator").setLevel(logging.INFO)
    translator = Translator.load(found.directory, device="cpu")
    text = load_text(read_config(found.directory), found.directory, found.data, found.split, found.limit)
    made = report(Study(translator, text), found.explain)
    if found.png:
        from translator.inspection.head_plots import draw_heads

        draw_heads(made, found.png)
    if found.json:
        values = json.dumps(made.to_dict(), ensure_ascii=False)
        if found.json == "-":
            return [values]
        LineWriter(found.json).write([values])
    return made.lines()


def _heads(text: str) -> str | tuple[int, ...]:
    if text in ("mean", "best"):
        return text
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither mean nor best nor numbers such as 0,3") from error


if __name__ == "__main__":
    sys.exit(main())
