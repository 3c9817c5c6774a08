"""``translator benchmark``: speed and memory, measured by code that is not installed with the package."""

import importlib
from collections.abc import Sequence

from translator.cli.command import MISTAKE
from translator.cli.streams import say


def main(program: str, arguments: Sequence[str]) -> int:
    """Measure what the arguments say, where the folder `benchmarks` can be imported -> exit status."""
    try:
        command = importlib.import_module("benchmarks.command")
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("benchmarks"):
            raise
        say("error: measuring needs a checkout of the project: run python scripts/benchmark.py there", program)
        return MISTAKE
    return int(command.main(arguments))
