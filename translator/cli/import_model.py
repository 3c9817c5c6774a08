"""Read back a Hugging Face folder that export wrote: the bundle that it was made from.

%(prog)s pocket-hf --output checkpoints/pocket-again

The weights may have been trained on since, as long as their names have stayed. The data that the bundle was trained on
is not named in the folder, so evaluate the new bundle with data=... or data=files.
"""

import argparse
from pathlib import Path

from translator.cli.command import Command


def _add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="HF_DIR", type=Path, help="the folder to read")
    parser.add_argument("--output", metavar="DIR2", type=Path, required=True, help="a folder that is not there yet")


def _import(found: argparse.Namespace) -> list[str]:
    from translator.bundle import save_bundle
    from translator.files import new_folder
    from translator.interop.huggingface import import_huggingface

    bundle = import_huggingface(found.directory)
    kept = {key: bundle.config[key] for key in ("source", "target", "decode", "alignment") if key in bundle.config}
    with new_folder(found.output) as folder:
        save_bundle(folder, bundle.model, bundle.tokenizer, **kept)
    return [str(found.output)]


COMMAND = Command(__doc__, _add_flags, _import, on_bundle=False)
