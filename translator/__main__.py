"""``python -m translator COMMAND ...``."""

import sys

from translator.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
