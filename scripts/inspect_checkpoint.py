"""Look into a checkpoint: what it is made of, and where it looks while it translates.

python scripts/inspect_checkpoint.py DIR                     parameters, settings, attention, scores
python scripts/inspect_checkpoint.py DIR align --source S    cross-attention for a sentence and its translation
    --html F                                                 all attention, as a page to look around in
python scripts/inspect_checkpoint.py DIR aer --gold F ...    how well each layer, head and step aligns words
python scripts/inspect_checkpoint.py DIR heads               what each attention head is worth and looks at
"""

import argparse
import json
import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from translator.arguments import OneLineParser
from translator.errors import UserError
from translator.status import exit_status
from translator.streams import LineWriter, say

if TYPE_CHECKING:
    from translator.inspection.gold import Gold
    from translator.inspection.pair import PairAttention

PROGRAM = "inspect_checkpoint.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(levelname)s: %(message)s", stream=sys.stderr)

    def work() -> None:
        found = build_parser().parse_args(arguments)
        LineWriter("-").write(found.look(found))

    return exit_status(PROGRAM, work)


def build_parser() -> argparse.ArgumentParser:
    """The flags; what to look at is a command of its own, and without one the checkpoint is described."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the bundle, such as checkpoints/pocket")
    parser.set_defaults(look=describe_bundle)
    commands = parser.add_subparsers(title="commands", metavar="")
    align = commands.add_parser("align", help="cross-attention of every layer and head for a pair", allow_abbrev=False)
    align.set_defaults(look=show_attention)
    align.add_argument("--source", required=True, action="append", metavar="S", help="the source; again for more pairs")
    align.add_argument("--target", action="append", metavar="T", help="its translation, one a source (the model's own)")
    align.add_argument("--layer", type=int, metavar="L", help="decoder layer from 0 (the bundle's best, or the middle)")
    align.add_argument("--heads", type=_heads, metavar="0,3|mean|best", help="heads to average (the best, or all)")
    align.add_argument("--png", metavar="F", help="draw all layers and heads")
    align.add_argument("--html", metavar="F", help="write one page for a browser, with attention of all kinds")
    align.add_argument("--json", metavar="F", help="write all weights; - is stdout, in place of the heat map")
    _add_aer(commands)
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


AER_HELP = """\
Alignment error rate, precision and recall of hard links between words, by layer, head and the step at which a word is
read (where the decoder writes it, or one step later, where it reads it), beside the plain diagonal and a statistical
aligner. Gold links come from one of

  --source F --target F --gold F     a line a pair, i-j sure and ipj possible, words counted at spaces and tabs
  --source F --target F --links F    single known words: a table with a heading and five columns (sentence, word, its
                                     position, translation, its position; tabs, from 0); judged is the share of them
                                     whose links all go to the right source word
  --data pocket --split valid|test   a checkpoint that was trained on pocket, whose grammar knows the links
"""


def _add_aer(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    form = argparse.RawDescriptionHelpFormatter
    about = "how well each layer, head and step aligns words"
    aer = commands.add_parser("aer", help=about, description=AER_HELP, formatter_class=form, allow_abbrev=False)
    aer.set_defaults(look=rate_alignments)
    aer.add_argument("--source", metavar="F", help="source lines, plain or .gz")
    aer.add_argument("--target", metavar="F", help="their translations")
    gold = aer.add_mutually_exclusive_group(required=True)
    gold.add_argument("--gold", metavar="F", help="sure and possible links")
    gold.add_argument("--links", metavar="F", help="known word pairs")
    gold.add_argument("--data", choices=["pocket"], help="take pairs and links from the checkpoint's own corpus")
    aer.add_argument("--one-based", action="store_true", help="the links of --gold count words from 1")
    aer.add_argument("--split", metavar="NAME", help="with --data: valid (the default), test, test_unseen")
    aer.add_argument(
        "--reverse", metavar="DIR2", type=Path, help="a checkpoint of the other direction; joins the table"
    )
    aer.add_argument("--symmetrize", metavar="M", help="with --reverse: intersection, union or grow-diag (all three)")
    aer.add_argument(
        "--aligner-text", nargs=2, metavar=("SRC", "TGT"), help="what the statistical aligner learns from, too"
    )
    aer.add_argument("--store-best", action="store_true", help="keep the best reading in the checkpoint as its default")
    aer.add_argument("--json", metavar="F", help="write all figures; - is stdout, in place of the table")


def describe_bundle(found: argparse.Namespace) -> list[str]:
    """What the checkpoint is made of."""
    from translator.checkpoint import METRICS, load_bundle, read_json
    from translator.inspection.summary import describe

    bundle = load_bundle(found.directory)
    path = found.directory / METRICS
    return describe(bundle.model, bundle.config, read_json(path) if path.exists() else {})


def show_attention(found: argparse.Namespace) -> list[str]:
    """A heat map a pair for the terminal, and the files that were asked for."""
    from translator.inference import Translator
    from translator.inspection.pair import attend

    targets = _targets(found)
    if found.png and len(found.source) > 1:
        raise UserError("a picture shows one pair: leave out --png or give one --source (--html takes several)")
    translator = Translator.load(found.directory, device="cpu")
    pairs = [
        attend(translator, source, target, layer=found.layer, heads=found.heads)
        for source, target in zip(found.source, targets, strict=True)
    ]
    if found.png:
        from translator.inspection.plots import draw_attention

        draw_attention(pairs[0], found.png)
    outputs = _outputs(found, pairs)
    for path, lines in outputs:
        if path != "-":
            _write(path, lines)
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
    from translator.checkpoint import read_config
    from translator.inspection.report import build_page

    config = read_config(directory)
    return build_page(pairs, directory.resolve().name, (config["source"], config["target"]))


def _heat_maps(pairs: Sequence["PairAttention"]) -> list[str]:
    from translator.inspection.heatmap import LEGEND, heatmap, printable

    lines: list[str] = []
    for pair in pairs:
        heads = ", ".join(map(str, pair.reading.heads))
        lines += [
            *([""] if lines else []),
            printable(pair.source),
            printable(pair.target),
            "",
            f"cross-attention of layer {pair.reading.layer}, mean of heads {heads}: {LEGEND}",
            "",
            *heatmap(pair.mean(), pair.target_pieces, pair.source_pieces, shutil.get_terminal_size().columns),
        ]
    return lines


def _write(path: str, lines: list[str]) -> None:
    writer = LineWriter(path)
    writer.write(lines)
    writer.close()


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


def rate_alignments(found: argparse.Namespace) -> list[str]:
    """The table, and the files that were asked for."""
    from translator.checkpoint import store_in_config
    from translator.data.parallel import read_parallel
    from translator.inference import Translator
    from translator.inspection.aer_table import check_reverse, described, measure_alignments

    _check_aer(found)
    if found.reverse:
        check_reverse(found.directory, found.reverse)
    gold = _gold(found)
    text = read_parallel(*found.aligner_text) if found.aligner_text else None
    table = measure_alignments(
        Translator.load(found.directory, device="cpu"),
        gold,
        reverse=Translator.load(found.reverse, device="cpu") if found.reverse else None,
        method=found.symmetrize,
        aligner_text=(text.sources, text.targets) if text else ((), ()),
    )
    if found.store_best:
        store_in_config(found.directory, alignment=table.best.to_config())
        say(f"{found.directory} now reads alignments from {described(table.best)}", PROGRAM)
    if found.json:
        values = json.dumps(table.to_dict(), ensure_ascii=False)
        if found.json == "-":
            return [values]
        LineWriter(found.json).write([values])
    return table.lines()


def _check_aer(found: argparse.Namespace) -> None:
    """Refuse flags that do not go together, before anything heavy is loaded."""
    from translator.options import one_of
    from translator.symmetrization import METHODS

    if found.data is None and None in (found.source, found.target):
        raise UserError("--gold and --links tell about lines: add --source F and --target F")
    if found.data is not None and (found.source or found.target or found.one_based):
        raise UserError("--data brings its own pairs and links: leave out --source, --target and --one-based")
    if found.data is None and found.split is not None:
        raise UserError("--split is a part of --data: add --data pocket, or leave it out")
    if found.store_best and found.split not in (None, "valid"):
        raise UserError("the best reading is chosen on validation pairs: --store-best needs --split valid")
    if found.symmetrize is not None:
        one_of("--symmetrize", found.symmetrize, tuple(METHODS))
        if found.reverse is None:
            raise UserError("--symmetrize needs the links of two models: add --reverse DIR2")


def _gold(found: argparse.Namespace) -> "Gold":
    from translator.checkpoint import read_config
    from translator.inspection.gold import pocket_gold, read_gold, read_word_pairs

    if found.data is not None:
        return pocket_gold(read_config(found.directory), found.split or "valid")
    if found.links is not None:
        return read_word_pairs(found.source, found.target, found.links)
    return read_gold(found.source, found.target, found.gold, one_based=found.one_based)


def _heads(text: str) -> str | tuple[int, ...]:
    if text in ("mean", "best"):
        return text
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither mean nor best nor numbers such as 0,3") from error


if __name__ == "__main__":
    sys.exit(main())
