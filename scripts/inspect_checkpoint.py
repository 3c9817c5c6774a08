"""Look into a checkpoint: python scripts/inspect_checkpoint.py --help."""

import sys

from translator.cli.inspect import COMMAND

build_parser, main = COMMAND.script("inspect_checkpoint.py")

if __name__ == "__main__":
    sys.exit(main())
