"""What a user can mend: the exception that says so, and the checks that raise it. Standard library only."""

import difflib
from collections.abc import Collection


class UserError(Exception):
    """A user's mistake, told in one line: what is wrong, where, and what to do.

    Commands print it on stderr without a traceback and exit with status 2.
    """


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The nearest known name as a hint to add to an error message, or nothing.

    A dotted name is also found by its end, as ``trainer.max_epochs`` for ``max_epochs``.
    """
    inside = [key for key in known if key.endswith(f".{name}")]
    close = inside or difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def at_least(name: str, value: int, least: int) -> None:
    """Refuse what is not an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise UserError(f"{name} must be at least {least}, not {value}")


def finite(name: str, value: float) -> None:
    """Refuse what is not a finite number."""
    if not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise UserError(f"{name} must be a finite number, not {value!r}")


def positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above 0."""
    finite(name, value)
    if value <= 0:
        raise UserError(f"{name} must be above 0, not {value}")


def one_of(name: str, value: str, allowed: Collection[str], otherwise: str = "") -> None:
    """Refuse a word that is not among the allowed ones."""
    if value not in allowed:
        choices = ", ".join(allowed) + otherwise
        raise UserError(f"{name} must be one of {choices}, not {value!r}{did_you_mean(str(value), allowed)}")
