"""Make a checkpoint smaller by removing attention heads, or see what that would cost.

python scripts/prune_heads.py DIR --heads dec.cross.3:0,5 --heads enc.self.0:1 --output DIR2   remove these
python scripts/prune_heads.py DIR --keep 0.5 --output DIR2      keep the most important half of all heads
python scripts/prune_heads.py DIR --curve --output-dir F        BLEU, speed and size against the share of heads kept

A head is KIND.LAYER:NUMBER, all from 0; KIND is enc.self, dec.self or dec.cross. Importance is |d loss / d gate| on
validation pairs (Michel et al. 2019). The new bundle is used as any other; nothing that exists is overwritten.
"""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter, say
from translator.cli.translate_flags import OneLineParser
from translator.errors import UserError, at_least

if TYPE_CHECKING:
    from translator.bundle import Bundle
    from translator.inspection.heads.names import Head
    from translator.inspection.heads.study import Study

PROGRAM = "prune_heads.py"
KINDS = ("enc.self", "dec.self", "dec.cross")
CURVE_JSON, CURVE_PNG = "curve.json", "curve.png"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    logging.getLogger("translator").setLevel(logging.INFO)

    def work() -> None:
        found = build_parser().parse_args(arguments)
        _check(found)
        LineWriter("-").write(_curve(found) if found.curve else _prune(found))

    return exit_status(PROGRAM, work)


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the bundle, such as checkpoints/pocket")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--heads", action="append", metavar="NAME", help="remove these; may be given several times")
    what.add_argument("--keep", type=float, metavar="SHARE", help="keep this share of the heads, from 0 to 1")
    what.add_argument("--curve", action="store_true", help="measure models with 100 to 20 %% of the heads")
    parser.add_argument("--kind", action="append", choices=KINDS, help="with --keep: of this kind only (of all)")
    parser.add_argument("--per-kind", action="store_true", help="with --keep: every kind keeps that share of its own")
    parser.add_argument("--output", type=Path, metavar="DIR2", help="the new bundle")
    parser.add_argument("--output-dir", type=Path, metavar="F", help=f"where {CURVE_JSON} and {CURVE_PNG} go")
    parser.add_argument("--finetune", type=int, metavar="EPOCHS", help="train on, with the corpus of the bundle")
    parser.add_argument("--data", nargs=2, metavar=("SOURCE", "TARGET"), help="pairs to measure on (the bundle's own)")
    parser.add_argument("--split", default="valid", help="which part of the bundle's own data (valid)")
    parser.add_argument("--limit", type=int, default=200, metavar="N", help="measure on the first N pairs (200)")
    return parser


def _check(found: argparse.Namespace) -> None:
    """Refuse flags that do not go together, before anything heavy is loaded."""
    wanted, other = ("output_dir", "output") if found.curve else ("output", "output_dir")
    mode = "--curve" if found.curve else "--heads and --keep"
    if getattr(found, wanted) is None:
        raise UserError(f"{mode} must say where to write: add --{wanted.replace('_', '-')}")
    if getattr(found, other) is not None:
        raise UserError(f"{mode} writes nothing to --{other.replace('_', '-')}: leave it out")
    if found.keep is None and (found.kind or found.per_kind):
        raise UserError("--kind and --per-kind say what --keep is a share of: they need --keep")
    if found.curve and found.finetune is not None:
        raise UserError("--curve trains nothing: leave --finetune out, or prune with --keep")
    if found.finetune is not None:
        at_least("--finetune", found.finetune, 1)


def _prune(found: argparse.Namespace) -> list[str]:
    from translator.bundle import load_bundle, save_new
    from translator.compression.pruning import prune_bundle
    from translator.files import refuse_existing
    from translator.inspection.heads.names import heads_of, listed

    refuse_existing(found.output)
    bundle = load_bundle(found.directory)
    gone = _chosen(found, bundle)
    smaller = prune_bundle(bundle, gone)
    _warn_of_empty_sites(smaller)
    before, after = bundle.model.n_parameters, smaller.model.n_parameters
    lines = [
        f"removed     {listed(gone) or 'nothing'}",
        f"heads       {len(heads_of(smaller.model))} of {len(heads_of(bundle.model))}",
        f"parameters  {after:,} of {before:,} ({after / before:.1%})",
    ]
    if found.finetune is None:
        save_new(smaller, found.output)
        return [*lines, f"written to  {found.output}"]
    from translator.training.run import finetune

    figures = finetune(smaller, found.directory, found.output, found.finetune)
    return [*lines, f"written to  {found.output}", f"fine-tuned  {json.dumps(figures, ensure_ascii=False)}"]


def _chosen(found: argparse.Namespace, bundle: "Bundle") -> "list[Head]":
    """The heads to remove."""
    from translator.compression.pruning import check_share, least_important
    from translator.inspection.heads.importance import importance
    from translator.inspection.heads.names import NAMES, parse_heads

    if found.heads is not None:
        return parse_heads(found.heads, bundle.model)
    check_share(found.keep)
    kinds = [kind for kind, name in NAMES.items() if name in (found.kind or KINDS)]
    return least_important(importance(_study(found, bundle)), found.keep, kinds, per_kind=found.per_kind)


def _study(found: argparse.Namespace, bundle: "Bundle") -> "Study":
    from translator.inference.translator import Translator
    from translator.inspection.heads.study import Study, load_text

    text = load_text(bundle.config, found.directory, found.data, found.split, found.limit)
    return Study(Translator(bundle.model, bundle.tokenizer), text)


def _curve(found: argparse.Namespace) -> list[str]:
    from translator.bundle import load_bundle
    from translator.compression.curve import curve, curve_lines, curve_values
    from translator.compression.curve_plot import draw_curve
    from translator.files import refuse_existing, write_json
    from translator.inspection.heads.importance import importance

    values, picture = (found.output_dir / name for name in (CURVE_JSON, CURVE_PNG))
    refuse_existing(values)
    refuse_existing(picture)
    study = _study(found, load_bundle(found.directory))
    try:
        found.output_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {found.output_dir}: {error.strerror}") from error
    points = curve(study, importance(study))
    write_json(values, curve_values(points, len(study.text)))
    draw_curve(points, picture)
    return [*curve_lines(points, len(study.text)), f"written to {values} and {picture}"]


def _warn_of_empty_sites(bundle: "Bundle") -> None:
    from translator.attention.heads import attentions

    empty = [site for site, attention in attentions(bundle.model).items() if not attention.n_heads]
    if empty:
        say(f"warning: no head is left in {', '.join(empty)}: a constant vector is all they add now", PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
