"""Write a checkpoint as a folder for another program.

python scripts/export.py checkpoints/pocket --to ctranslate2 --output pocket-ct2 --quantization int8
python scripts/export.py checkpoints/pocket --to huggingface --output pocket-hf

How to use the folder, and what differs there: translator/interop/ctranslate2.py and huggingface.py. Only models with
plain multi-head attention can be exported.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from translator.cli.status import exit_status
from translator.cli.streams import LineWriter, say
from translator.cli.translate_flags import OneLineParser
from translator.errors import UserError

PROGRAM = "export.py"
FORMATS = ("ctranslate2", "huggingface")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""

    def work() -> None:
        found = build_parser().parse_args(arguments)
        _export(found.directory, found.to, found.output, found.quantization)
        LineWriter("-").write([str(found.output)])

    return exit_status(PROGRAM, work)


def build_parser() -> argparse.ArgumentParser:
    """The flags."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("directory", metavar="DIR", type=Path, help="the bundle, such as checkpoints/pocket")
    parser.add_argument("--to", choices=FORMATS, required=True, help="the program that is to use it")
    parser.add_argument("--output", metavar="DIR2", type=Path, required=True, help="a folder that is not there yet")
    parser.add_argument(
        "--quantization",
        metavar="TYPE",
        help="of the weights, for ctranslate2: int8, int8_float32, int8_float16, int8_bfloat16, int16, float16, "
        "bfloat16, float32 (as they are: float32)",
    )
    return parser


def _export(directory: Path, to: str, output: Path, quantization: str | None) -> None:
    if to != "ctranslate2" and quantization is not None:
        raise UserError("--quantization is for --to ctranslate2: Hugging Face folders hold float32")
    from translator.bundle import load_bundle

    bundle = load_bundle(directory)
    if to == "ctranslate2":
        from translator.interop.ctranslate2 import export_ctranslate2

        export_ctranslate2(bundle, output, quantization)
    else:
        from translator.interop.huggingface import export_huggingface

        export_huggingface(bundle, output)
    rule = bundle.tokenizer.normalization
    if rule != "none":
        say(f"text is brought into Unicode's form {rule.upper()} before tokenizer.model sees it", PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
