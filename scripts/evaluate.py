"""As `translator evaluate`: python scripts/evaluate.py key=value ..."""

import sys

from translator.cli.evaluate import main

if __name__ == "__main__":
    sys.exit(main("evaluate.py", sys.argv[1:]))
