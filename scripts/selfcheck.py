"""Compute the same in different ways with a checkpoint, and compare: python scripts/selfcheck.py --help."""

import sys

from translator.cli.selfcheck import COMMAND

build_parser, main = COMMAND.script("selfcheck.py")

if __name__ == "__main__":
    sys.exit(main())
