"""Writing so that nothing is lost: a file or folder is there as a whole or not at all, and none is overwritten."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from translator.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; move it into place when the block has written it.

    Raises:
        UserError: the disk is full, or the folder does not take files.
    """
    temporary = _beside(path)
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error}") from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path`` to write into; it takes the name when the block is through.

    Raises:
        UserError: there is something at ``path`` already, or the place does not take files.
    """
    if not path.is_dir() or any(path.iterdir()):  # an empty folder is taken for a new one
        refuse_existing(path)
    path = path.absolute()  # so that `.` and `a/..` have a name, too
    temporary = _beside(path)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def refuse_existing(path: Path) -> None:
    """Raise UserError for a path that is taken."""
    if path.exists():
        raise UserError(f"{path} exists and is never overwritten: choose another place to write to")


def make_folder(path: Path) -> None:
    """Make a folder and those above it where they are missing; UserError where that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises:
        UserError: missing or not a JSON object.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing: {path.parent} is not a checkpoint of this program") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: damaged or not a checkpoint of this program ({error})") from error
    if not isinstance(values, dict):
        raise UserError(f"{path}: damaged or not a checkpoint of this program (not a JSON object)")
    return values


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write plain values as readable JSON, in one move."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _beside(path: Path) -> Path:
    """A name in the same folder, from where moving is one step, that no other process uses."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")
