"""Compare trainings: python scripts/compare.py --help."""

import sys

from translator.cli.compare import COMMAND

build_parser, main = COMMAND.script("compare.py")

if __name__ == "__main__":
    sys.exit(main())
