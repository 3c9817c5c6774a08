"""Give a trained checkpoint fewer key/value heads, as grouped-query or multi-query attention has.

%(prog)s DIR --kv-heads 2 --output DIR2                     in all attention
%(prog)s DIR --kv-heads 1 --site cross --finetune 1 --output DIR2    in one kind; then train on

Key/value heads that become one are averaged, which changes what the model says: train on for a short while with
--finetune (Ainslie et al. 2023). The new bundle is used as any other; nothing that exists is overwritten.
"""

import argparse
from pathlib import Path

from translator.cli.command import Command
from translator.cli.smaller import add_finetune, check_finetune, write_smaller
from translator.errors import at_least

SITES = ("encoder", "decoder", "cross")
#: Share of the first training's peak learning rate that fine-tuning takes: all of it, as in the paper, for averages are
#: far from an optimum. Pocket's model with one key/value head, an epoch on: valid BLEU 92.5; with a quarter of it 87.8.
LR_SHARE = 1.0


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--kv-heads", type=int, required=True, metavar="N", help="a divisor of those there are")
    add("--site", action="append", choices=SITES, help="there alone; may be given twice (everywhere)")
    add_finetune(parser)
    add("--output", type=Path, required=True, metavar="DIR2", help="the new bundle")


def _share(found: argparse.Namespace) -> list[str]:
    """Write the new bundle -> what was done."""
    at_least("--kv-heads", found.kv_heads, 1)
    check_finetune(found)
    from translator.bundle import load_bundle
    from translator.compression.sharing import key_value_heads, share_bundle
    from translator.files import refuse_existing
    from translator.inspection.summary import attention_sites, cache_size

    refuse_existing(found.output)
    bundle = load_bundle(found.directory)
    kinds = [kind for kind in SITES if kind in (found.site or SITES)]
    smaller = share_bundle(bundle, kinds, found.kv_heads)
    more, less = (cache_size(attention_sites(each.model)) for each in (bundle, smaller))
    there = {kind: key_value_heads(bundle.model.config, kind) for kind in kinds}
    return [
        *(f"{kind:10}  {found.kv_heads} of {count} key/value heads" for kind, count in there.items()),
        f"cache       {less.target_token:,} of {more.target_token:,} bytes a target token, "
        f"{less.source_token:,} of {more.source_token:,} a source token",
        *write_smaller(found, bundle, smaller, lr_share=LR_SHARE),
    ]


COMMAND = Command(__doc__, _add_flags, _share, talks=True)
