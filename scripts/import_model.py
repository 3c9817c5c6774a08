"""Read back a Hugging Face folder that scripts/export.py wrote: the bundle that it was made from.

python scripts/import_model.py pocket-hf --output checkpoints/pocket-again

The weights may have been trained on since, as long as their names have stayed. The data that the bundle was trained on
is not named in the folder, so evaluate the new bundle with data=... or data=files.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter
from translator.cli.translate_flags import OneLineParser

PROGRAM = "import_model.py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""

    def work() -> None:
        found = build_parser().parse_args(arguments)
        _import(found.directory, found.output)
        LineWriter("-").write([str(found.output)])

    return exit_status(PROGRAM, work)


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    parser = OneLineParser(prog=PROGRAM, description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("directory", metavar="HF_DIR", type=Path, help="the folder to read")
    parser.add_argument("--output", metavar="DIR2", type=Path, required=True, help="a folder that is not there yet")
    return parser


def _import(directory: Path, output: Path) -> None:
    from translator.bundle import save_bundle
    from translator.files import new_folder
    from translator.interop.huggingface import import_huggingface

    bundle = import_huggingface(directory)
    more = {key: value for key, value in bundle.config.items() if key in ("decode", "alignment")}
    source, target = bundle.config["source"], bundle.config["target"]
    with new_folder(output) as folder:
        save_bundle(folder, bundle.model, bundle.tokenizer, source=source, target=target, **more)


if __name__ == "__main__":
    sys.exit(main())
