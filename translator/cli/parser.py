"""Reading flags: complaints in one line, with a guess at what was meant."""

import argparse
from typing import Any, NoReturn

from translator.errors import UserError, did_you_mean


class OneLineParser(argparse.ArgumentParser):
    """Complains in one line, and guesses what a mistyped flag was meant to be; help keeps its line breaks."""

    def __init__(self, **options: Any) -> None:
        form: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        super().__init__(**form | options)

    def error(self, message: str) -> NoReturn:
        """Raise in place of printing the usage."""
        raise UserError(f"{message} (see {self.prog} --help)")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """As the library's, but nothing may stay unknown."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            hint = did_you_mean(unknown[0].split("=")[0], flags)
            if not unknown[0].startswith("-"):
                hint = "; files are named by flags"
            self.error(f"unknown argument {unknown[0]!r}{hint}")
        return found, unknown


def add_pairs(parser: argparse.ArgumentParser) -> None:
    """What heads are measured on."""
    parser.add_argument("--data", nargs=2, metavar=("SOURCE", "TARGET"), help="pairs to measure on (the bundle's own)")
    parser.add_argument("--split", default="valid", help="which part of the bundle's own data (valid)")
    parser.add_argument("--limit", type=int, default=200, metavar="N", help="measure on the first N pairs (200)")


def head_numbers(text: str) -> str | tuple[int, ...]:
    """Numbers such as 0,3 as a tuple; words as they are."""
    return tuple(map(int, text.split(","))) if text.replace(",", "").isdecimal() else text
