"""Write a checkpoint as a folder for another program: python scripts/export.py --help."""

import sys

from translator.cli.export import COMMAND

build_parser, main = COMMAND.script("export.py")

if __name__ == "__main__":
    sys.exit(main())
