"""Look into a checkpoint: what it is made of, and where it looks while it translates.

%(prog)s DIR                     parameters, settings, attention, scores
%(prog)s DIR align --source S    cross-attention for a sentence and its translation
    --html F                                 all attention, as a page to look around in
%(prog)s DIR aer --gold F ...    how well each layer, head and step aligns words
%(prog)s DIR heads               what each attention head is worth and looks at
"""

import argparse

from translator.cli import aer, align, heads
from translator.cli.command import Command


def _add_flags(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="")
    for name, command in (("align", align.COMMAND), ("aer", aer.COMMAND), ("heads", heads.COMMAND)):
        about = command.description.partition("\n")[0]
        within = commands.add_parser(name, help=about, description=command.description)
        within.set_defaults(command=command)
        command.add_flags(within)


def _describe(found: argparse.Namespace) -> list[str]:
    from translator.bundle import METRICS, load_bundle
    from translator.files import read_json
    from translator.inspection.summary import describe

    bundle = load_bundle(found.directory)
    path = found.directory / METRICS
    return describe(bundle.model, bundle.config, read_json(path) if path.exists() else {})


COMMAND = Command(__doc__, _add_flags, _describe)
