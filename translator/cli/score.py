"""Log-probability of given translations: one number a line, natural logarithm, a sum over all pieces and the end.

%(prog)s -m checkpoints/pocket --source source.txt --target target.txt > scores.txt
"""

import argparse

from translator.cli.command import Command
from translator.errors import UserError


def _add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--model", metavar="DIR", required=True, help="the bundle that scores")
    parser.add_argument("--source", metavar="FILE", required=True, help="plain or .gz, one sentence a line")
    blank = "as many lines; a blank one is scored as an empty sentence"
    parser.add_argument("--target", metavar="FILE", required=True, help=blank)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")


def _score(found: argparse.Namespace) -> list[str]:
    from translator.data.lines import read_text
    from translator.inference.translator import Translator

    sources, targets = read_text(found.source), read_text(found.target)
    if len(sources) != len(targets):
        raise UserError(f"{found.source} has {len(sources)} lines but {found.target} has {len(targets)}")
    return [f"{score:.6f}" for score in Translator.load(found.model, found.device).score(sources, targets)]


COMMAND = Command(__doc__, _add_flags, _score, on_bundle=False)
