"""Remove attention heads from a checkpoint: python scripts/prune_heads.py --help."""

import sys

from translator.cli.prune import COMMAND

build_parser, main = COMMAND.script("prune_heads.py")

if __name__ == "__main__":
    sys.exit(main())
