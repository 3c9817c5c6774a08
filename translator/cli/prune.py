"""Make a checkpoint smaller by removing attention heads, or see what that would cost.

%(prog)s DIR --heads dec.cross.3:0,5 --heads enc.self.0:1 --output DIR2   remove these
%(prog)s DIR --keep 0.5 --output DIR2      keep the most important half of all heads
%(prog)s DIR --curve --output-dir F        BLEU, speed and size against the share of heads kept

A head is KIND.LAYER:NUMBER, all from 0; KIND is enc.self, dec.self or dec.cross. Importance is |d loss / d gate| on
validation pairs (Michel et al. 2019). The new bundle is used as any other; nothing that exists is overwritten.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from translator.cli.command import Command
from translator.cli.parser import add_pairs
from translator.cli.smaller import add_finetune, check_finetune, write_smaller
from translator.cli.streams import say
from translator.errors import UserError

if TYPE_CHECKING:
    from translator.bundle import Bundle
    from translator.inspection.heads.names import Head
    from translator.inspection.heads.study import Study

KINDS = ("enc.self", "dec.self", "dec.cross")
CURVE_JSON, CURVE_PNG = "curve.json", "curve.png"


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add, what = parser.add_argument, parser.add_mutually_exclusive_group(required=True).add_argument
    what("--heads", action="append", metavar="NAME", help="remove these; may be given several times")
    what("--keep", type=float, metavar="SHARE", help="keep this share of the heads, from 0 to 1")
    what("--curve", action="store_true", help="measure models with 100 to 20 %% of the heads")
    add("--kind", action="append", choices=KINDS, help="with --keep: of this kind only (of all)")
    add("--per-kind", action="store_true", help="with --keep: every kind keeps that share of its own")
    add("--output", type=Path, metavar="DIR2", help="the new bundle")
    add("--output-dir", type=Path, metavar="F", help=f"where {CURVE_JSON} and {CURVE_PNG} go")
    add_finetune(parser)
    add_pairs(parser)


def _run(found: argparse.Namespace) -> list[str]:
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
    check_finetune(found)
    return _curve(found) if found.curve else _prune(found)


def _prune(found: argparse.Namespace) -> list[str]:
    from translator.attention.heads import attentions
    from translator.bundle import load_bundle
    from translator.compression.pruning import prune_bundle
    from translator.files import refuse_existing
    from translator.inspection.heads.names import heads_of, listed

    refuse_existing(found.output)
    bundle = load_bundle(found.directory)
    gone = _chosen(found, bundle)
    smaller = prune_bundle(bundle, gone)
    if empty := [site for site, attention in attentions(smaller.model).items() if not attention.n_heads]:
        what = f"no head is left in {', '.join(empty)}: a constant vector is all they add now"
        say(f"warning: {what}", found.program)
    return [
        f"removed     {listed(gone) or 'nothing'}",
        f"heads       {len(heads_of(smaller.model))} of {len(heads_of(bundle.model))}",
        *write_smaller(found, bundle, smaller),
    ]


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
    from translator.files import make_folder, refuse_existing, write_json
    from translator.inspection.heads.importance import importance

    values, picture = (found.output_dir / name for name in (CURVE_JSON, CURVE_PNG))
    refuse_existing(values)
    refuse_existing(picture)
    study = _study(found, load_bundle(found.directory))
    make_folder(found.output_dir)
    points = curve(study, importance(study))
    write_json(values, curve_values(points, len(study.text)))
    draw_curve(points, picture)
    return [*curve_lines(points, len(study.text)), f"written to {values} and {picture}"]


COMMAND = Command(__doc__, _add_flags, _run, talks=True)
