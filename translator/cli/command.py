"""What a command is, and how each begins and ends: flags, messages on stderr, lines on stdout, exit status."""

import argparse
import json
import logging
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from translator.cli.parser import OneLineParser
from translator.cli.streams import LineWriter, say
from translator.errors import UserError

MISTAKE, INTERRUPTED, READER_GONE = 2, 130, 141


@dataclass(frozen=True)
class Command:
    """A command with flags: its help, how its flags are added, and what it does with them.

    ``run`` returns the lines to print, and an exit status with them where that is not 0. What it is given also holds
    ``program``, the name that messages begin with, and ``typed``, the whole command line. ``on_bundle``: the first
    argument is DIR, a bundle. ``talks``: it takes long and tells how far it is.
    """

    description: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], list[str] | tuple[list[str], int]]
    on_bundle: bool = True
    talks: bool = False

    def build_parser(self, program: str) -> argparse.ArgumentParser:
        """The parser of the command under this name."""
        parser = OneLineParser(prog=program, description=self.description)
        if self.on_bundle:
            told = "the bundle, such as checkpoints/pocket"
            parser.add_argument("directory", metavar="DIR", type=Path, help=told)
        parser.set_defaults(command=self)  # a command within it puts itself there
        self.add_flags(parser)
        return parser

    def main(self, program: str, arguments: Sequence[str] | None = None) -> int:
        """Do what the arguments say (those of this process) and print the lines -> exit status."""
        words = sys.argv[1:] if arguments is None else arguments

        def work() -> int:
            found = self.build_parser(program).parse_args(words)
            found.program = program
            start = ["python", f"scripts/{program}"] if program.endswith(".py") else program.split()
            found.typed = shlex.join([*start, *words])
            with messages_on_stderr(program, logging.INFO if found.command.talks else logging.WARNING):
                command: Command = found.command
                done = command.run(found)
            lines, status = done if isinstance(done, tuple) else (done, 0)
            LineWriter("-").write(lines)
            return status

        return exit_status(program, work)

    def script(self, program: str) -> tuple[Callable[[], argparse.ArgumentParser], Callable[..., int]]:
        """What a script of this name consists of: its parser's builder and its main function."""
        return partial(self.build_parser, program), partial(self.main, program)


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


@contextmanager
def messages_on_stderr(program: str, level: int) -> Iterator[None]:
    """Messages of the whole package from this level on go to stderr, a line each: ``program: warning: message``."""
    logger = logging.getLogger("translator")
    before = logger.handlers[:], logger.level
    logger.handlers[:] = [_Said(program)]
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.handlers[:] = before[0]
        logger.setLevel(before[1])


class _Said(logging.Handler):
    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    def emit(self, record: logging.LogRecord) -> None:
        level = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        say(f"{level}{record.getMessage()}", self._program)


def write_file(path: str, lines: list[str]) -> None:
    """Write whole lines, gzipped if so named; raises UserError as `LineWriter`."""
    writer = LineWriter(path)
    writer.write(lines)
    writer.close()


def table_or_json(lines: list[str], values: Mapping[str, Any], path: str | None) -> list[str]:
    """What is printed: a table, or the figures as JSON where ``path`` is ``-``; any other path gets them as a file."""
    written = [json.dumps(values, ensure_ascii=False)]
    if path == "-":
        return written
    if path:
        write_file(path, written)
    return lines
