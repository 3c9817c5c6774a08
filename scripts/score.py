"""Log-probability of given translations: one number a line, natural logarithm, a sum over all pieces and the end.

python scripts/score.py -m checkpoints/pocket --source source.txt --target target.txt > scores.txt
"""

import argparse
import sys
from collections.abc import Sequence

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter
from translator.cli.translate_flags import OneLineParser
from translator.errors import UserError

PROGRAM = "score.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""

    def work() -> None:
        found = build_parser().parse_args(arguments)
        _score(found.model, found.source, found.target, found.device)

    return exit_status(PROGRAM, work)


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    parser = OneLineParser(prog=PROGRAM, description=__doc__, allow_abbrev=False)
    parser.add_argument("-m", "--model", metavar="DIR", required=True, help="the bundle that scores")
    parser.add_argument("--source", metavar="FILE", required=True, help="plain or .gz, one sentence a line")
    parser.add_argument(
        "--target", metavar="FILE", required=True, help="as many lines; a blank one is scored as an empty sentence"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    return parser


def _score(model: str, source: str, target: str, device: str) -> None:
    from translator.data.lines import read_text
    from translator.inference.translator import Translator

    sources, targets = read_text(source), read_text(target)
    if len(sources) != len(targets):
        raise UserError(f"{source} has {len(sources)} lines but {target} has {len(targets)}")
    scores = Translator.load(model, device).score(sources, targets)
    LineWriter("-").write([f"{score:.6f}" for score in scores])


if __name__ == "__main__":
    sys.exit(main())
