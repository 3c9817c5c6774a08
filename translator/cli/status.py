"""How a command ends: its exit status, and one line for what went wrong."""

from collections.abc import Callable

from translator.cli.streams import say
from translator.errors import UserError

MISTAKE, INTERRUPTED, READER_GONE = 2, 130, 141


def exit_status(program: str, work: Callable[[], int | None], interrupted: str = "interrupted") -> int:
    """Do the work -> the exit status of the program: what the work returns (None is 0) where nothing goes wrong.

    A user's mistake is one line on standard error and status 2, an interrupt is told as ``interrupted`` and gives 130;
    that the reader of the output has gone needs no words and gives 141.
    """
    try:
        return work() or 0
    except UserError as error:
        say(f"error: {error}", program)
        return MISTAKE
    except KeyboardInterrupt:
        say(interrupted, program)
        return INTERRUPTED
    except BrokenPipeError:
        return READER_GONE
