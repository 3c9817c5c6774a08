"""Look into a checkpoint: what it is made of, and where it looks while it translates.

python scripts/inspect_checkpoint.py DIR                     parameters, settings, attention, scores
python scripts/inspect_checkpoint.py DIR align --source S    cross-attention for a sentence and its translation
    --html F                                                 all attention, as a page to look around in
python scripts/inspect_checkpoint.py DIR aer --gold F ...    how well each layer, head and step aligns words
python scripts/inspect_checkpoint.py DIR heads               what each attention head is worth and looks at
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.cli.aer import add_aer
from translator.cli.align import add_align
from translator.cli.heads import add_heads
from translator.cli.status import exit_status
from translator.cli.streams import LineWriter
from translator.cli.translate_flags import OneLineParser

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
    add_align(commands)
    add_aer(commands)
    add_heads(commands)
    return parser


def describe_bundle(found: argparse.Namespace) -> list[str]:
    """What the checkpoint is made of."""
    from translator.bundle import METRICS, load_bundle
    from translator.files import read_json
    from translator.inspection.summary import describe

    bundle = load_bundle(found.directory)
    path = found.directory / METRICS
    return describe(bundle.model, bundle.config, read_json(path) if path.exists() else {})


if __name__ == "__main__":
    sys.exit(main())
