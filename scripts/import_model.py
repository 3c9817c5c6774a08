"""Read back a Hugging Face folder that export.py wrote: python scripts/import_model.py --help."""

import sys

from translator.cli.import_model import COMMAND

build_parser, main = COMMAND.script("import_model.py")

if __name__ == "__main__":
    sys.exit(main())
