"""As `translator train`: python scripts/train.py key=value ..."""

import sys

from translator.cli.train import main

if __name__ == "__main__":
    sys.exit(main("train.py", sys.argv[1:]))
