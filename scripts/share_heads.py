"""Give a checkpoint fewer key/value heads: python scripts/share_heads.py --help."""

import sys

from translator.cli.share_heads import COMMAND

build_parser, main = COMMAND.script("share_heads.py")

if __name__ == "__main__":
    sys.exit(main())
