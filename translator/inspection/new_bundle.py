"""A changed model as a bundle in a new folder."""

from pathlib import Path

from translator.checkpoint import Bundle, save_bundle
from translator.errors import UserError
from translator.model.transformer import Transformer


def save_new(bundle: Bundle, directory: Path) -> None:
    """Write a bundle into a new folder.

    Raises:
        UserError: the folder exists, or cannot be made.
    """
    refuse_existing(directory)
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"cannot write {directory}: {error.strerror}") from error
    written = ("format", "model", "tokenizer")
    rest = {key: value for key, value in bundle.config.items() if key not in written}
    save_bundle(directory, bundle.model, bundle.tokenizer, **rest)


def refuse_existing(path: Path) -> None:
    """Raise UserError for a path that is taken."""
    if path.exists():
        raise UserError(f"{path} exists and is never overwritten: choose another place to write to")


def parameters(model: Transformer) -> int:
    """Numbers in a model; tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())
