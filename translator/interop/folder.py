"""A folder that is there as a whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from translator.errors import UserError


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path`` to write into; it takes the name when the block is through.

    Raises:
        UserError: there is something at ``path`` already, or the place does not take files.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{path} exists already: give --output the name of a new folder")
    # Absolute, so that `.` and `a/..` have a name, too.
    path = path.absolute()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
