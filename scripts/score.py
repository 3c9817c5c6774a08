"""Log-probability of given translations: python scripts/score.py --help."""

import sys

from translator.cli.score import COMMAND

build_parser, main = COMMAND.script("score.py")

if __name__ == "__main__":
    sys.exit(main())
