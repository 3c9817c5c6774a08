"""Write a checkpoint as a folder for another program.

%(prog)s checkpoints/pocket --to ctranslate2 --output pocket-ct2 --quantization int8
%(prog)s checkpoints/pocket --to huggingface --output pocket-hf

How to use the folder, and what differs there: translator/interop/ctranslate2.py and huggingface.py. Only models with
plain multi-head attention can be exported.
"""

import argparse
from pathlib import Path

from translator.cli.command import Command
from translator.cli.streams import say
from translator.errors import UserError

TYPES = "int8, int8_float32, int8_float16, int8_bfloat16, int16, float16, bfloat16, float32 (as they are: float32)"


def _add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", choices=("ctranslate2", "huggingface"), required=True, help="what is to use it")
    parser.add_argument("--output", metavar="DIR2", type=Path, required=True, help="a folder that is not there yet")
    parser.add_argument("--quantization", metavar="TYPE", help=f"of the weights, for ctranslate2: {TYPES}")


def _export(found: argparse.Namespace) -> list[str]:
    if found.to != "ctranslate2" and found.quantization is not None:
        raise UserError("--quantization is for --to ctranslate2: Hugging Face folders hold float32")
    from translator.bundle import load_bundle
    from translator.interop.ctranslate2 import export_ctranslate2
    from translator.interop.huggingface import export_huggingface

    bundle = load_bundle(found.directory)
    if found.to == "ctranslate2":
        export_ctranslate2(bundle, found.output, found.quantization)
    else:
        export_huggingface(bundle, found.output)
    if (rule := bundle.tokenizer.normalization) != "none":
        say(f"text is brought into Unicode's form {rule.upper()} before tokenizer.model sees it", found.program)
    return [str(found.output)]


COMMAND = Command(__doc__, _add_flags, _export)
