"""What an exported folder remembers of the bundle it was made from, and how its vocabulary is spelled."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from translator.bundle import CONFIG, check_config
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError

#: The key in the other program's config.json; both programs pass over keys that they do not know.
KEY = "translator"
# Not the data settings: they hold paths of the machine that trained, and exported folders are made to be given away.
_KEPT = ("format", "source", "target", "model", "tokenizer", "decode", "alignment", "lengths")


def remembered(config: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a bundle's config.json that travel with an export."""
    return {key: config[key] for key in _KEPT if key in config}


def recalled(config: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The bundle's settings, from the config.json of an exported folder.

    Raises UserError where the folder was not exported by this program, or is damaged.
    """
    found = config.get(KEY)
    if not isinstance(found, Mapping):
        raise UserError(f"{directory} was not written by scripts/export.py, and only such folders can be imported")
    check_config(found, f"{directory / CONFIG}, {KEY}")
    return dict(found)


def vocabulary(tokenizer: Tokenizer) -> list[str]:
    """All pieces, in the order of their ids (V,).

    Raises UserError where two are spelled the same, so that a program that looks pieces up by name would confuse them.
    """
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    if len(set(pieces)) < len(pieces):
        twice = next(piece for piece in pieces if pieces.count(piece) > 1)
        raise UserError(f"the vocabulary has two pieces {twice!r}: other programs look pieces up by name")
    return pieces
