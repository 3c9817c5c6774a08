"""Give a trained checkpoint fewer key/value heads, as grouped-query or multi-query attention has.

python scripts/share_heads.py DIR --kv-heads 2 --output DIR2                     in all attention
python scripts/share_heads.py DIR --kv-heads 1 --site cross --finetune 1 --output DIR2    in one kind; then train on

Key/value heads that become one are averaged, which changes what the model says: train on for a short while with
--finetune (Ainslie et al. 2023). The new bundle is used as any other; nothing that exists is overwritten.
"""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter
from translator.cli.translate_flags import OneLineParser
from translator.errors import at_least

PROGRAM = "share_heads.py"
SITES = ("encoder", "decoder", "cross")
#: Share of the first training's peak learning rate that fine-tuning takes: all of it, as in the paper, for averages are
#: far from an optimum. Pocket's model with one key/value head, an epoch on: valid BLEU 92.5; with a quarter of it 87.8.
LR_SHARE = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    logging.getLogger("translator").setLevel(logging.INFO)
    return exit_status(PROGRAM, lambda: LineWriter("-").write(share(build_parser().parse_args(arguments))))


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the bundle, such as checkpoints/pocket")
    parser.add_argument("--kv-heads", type=int, required=True, metavar="N", help="a divisor of those there are")
    parser.add_argument("--site", action="append", choices=SITES, help="there alone; may be given twice (everywhere)")
    parser.add_argument("--finetune", type=int, metavar="EPOCHS", help="train on, with the corpus of the bundle")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR2", help="the new bundle")
    return parser


def share(found: argparse.Namespace) -> list[str]:
    """Write the new bundle -> what was done."""
    at_least("--kv-heads", found.kv_heads, 1)
    if found.finetune is not None:
        at_least("--finetune", found.finetune, 1)
    from translator.bundle import load_bundle, save_new
    from translator.compression.sharing import key_value_heads, share_bundle
    from translator.files import refuse_existing
    from translator.inspection.summary import attention_sites, cache_size

    refuse_existing(found.output)
    bundle = load_bundle(found.directory)
    kinds = [kind for kind in SITES if kind in (found.site or SITES)]
    smaller = share_bundle(bundle, kinds, found.kv_heads)
    before, after = bundle.model, smaller.model
    more, less = (cache_size(attention_sites(model)) for model in (before, after))
    lines = [
        *(f"{kind:10}  {found.kv_heads} of {key_value_heads(before.config, kind)} key/value heads" for kind in kinds),
        f"cache       {less.target_token:,} of {more.target_token:,} bytes a target token, "
        f"{less.source_token:,} of {more.source_token:,} a source token",
        f"parameters  {after.n_parameters:,} of {before.n_parameters:,} "
        f"({after.n_parameters / before.n_parameters:.1%})",
        f"written to  {found.output}",
    ]
    if found.finetune is None:
        save_new(smaller, found.output)
        return lines
    from translator.training.run import finetune

    figures = finetune(smaller, found.directory, found.output, found.finetune, LR_SHARE)
    return [*lines, f"fine-tuned  {json.dumps(figures, ensure_ascii=False)}"]


if __name__ == "__main__":
    sys.exit(main())
