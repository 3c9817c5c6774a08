"""The bundle: a folder that holds a model and all that using it takes. Needs neither hydra nor lightning.

``config.json``        format, languages, model, tokenizer and data settings
``model.safetensors``  weights under plain names; tensors that are tied stand once
``tokenizer.model``    SentencePiece
``metrics.json``       scores of the finished training, with signatures
``training/``          what resuming takes, among it the settings of the run
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from translator.data.normalization import FORMS
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.files import make_folder, new_folder, read_json, replacing, write_json
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

FORMAT = 1
CONFIG, WEIGHTS, TOKENIZER, METRICS = "config.json", "model.safetensors", "tokenizer.model", "metrics.json"
SETTINGS = "training/settings.json"


@dataclass(frozen=True)
class Bundle:
    """A loaded bundle; ``config`` is config.json as plain values."""

    model: Transformer
    tokenizer: Tokenizer
    config: dict[str, Any] = field(default_factory=dict)


def save_bundle(
    directory: str | Path, model: Transformer, tokenizer: Tokenizer, *, source: str, target: str, **more: Any
) -> None:
    """Write a whole bundle; see `save_config` and `save_weights`."""
    save_config(directory, model.config, tokenizer, source=source, target=target, **more)
    save_weights(directory, model)


def save_config(
    directory: str | Path, model: ModelConfig, tokenizer: Tokenizer, *, source: str, target: str, **more: Any
) -> None:
    """Write what stays the same while the weights change: config.json and the tokenizer.

    ``source`` and ``target`` are language codes; ``more`` goes into config.json as it is (plain values). Each file is
    replaced in one move, so a reader never meets half a file.
    """
    directory = Path(directory)
    make_folder(directory)
    with replacing(directory / TOKENIZER) as path:
        tokenizer.save(path)
    config = {"format": FORMAT, "source": source, "target": target, "model": model.to_dict()}
    write_json(directory / CONFIG, config | {"tokenizer": {"normalization": tokenizer.normalization}} | more)


def store_in_config(directory: str | Path, **values: Any) -> None:
    """Add to config.json, or replace there, and leave all else as it is; in one move.

    Raises:
        UserError: there is no config.json, or it cannot be read or written.
    """
    directory = Path(directory)
    write_json(directory / CONFIG, read_config(directory) | values)


def save_weights(directory: str | Path, model: Transformer) -> None:
    """Write or replace the weights of a bundle."""
    weights = {name: p.detach().cpu().contiguous() for name, p in model.named_parameters()}  # tied ones once
    write_tensors(Path(directory) / WEIGHTS, weights)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file in one move, with the permissions that other new files get."""
    with replacing(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode
        try:
            save_file(dict(tensors), temporary, metadata={"format": "pt"})
        except SafetensorError as error:
            raise UserError(f"cannot write {path}: {error}") from error
        temporary.chmod(mode)  # the library lets nobody but the owner read what it writes


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file.

    Raises:
        UserError: missing or damaged.
    """
    if not path.is_file():
        raise UserError(f"{path} is missing: the folder holds no trained model")
    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise UserError(f"{path}: damaged or not a checkpoint of this program ({error})") from error


def save_new(bundle: Bundle, directory: Path) -> None:
    """Write a changed bundle into a new folder, as a whole or not at all.

    Raises:
        UserError: the folder exists, or cannot be made.
    """
    rest = {key: value for key, value in bundle.config.items() if key not in ("format", "model", "tokenizer")}
    with new_folder(directory) as folder:
        save_bundle(folder, bundle.model, bundle.tokenizer, **rest)


def load_bundle(directory: str | Path) -> Bundle:
    """Load a bundle onto the CPU, in evaluation mode.

    Raises:
        UserError: something is missing, damaged or does not fit together; names the file.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise UserError(f"no model at {directory}: give the folder that training wrote, such as checkpoints/pocket")
    config = read_config(directory)
    tokenizer = Tokenizer.load(directory / TOKENIZER, **config["tokenizer"])
    try:
        model_config = ModelConfig.from_dict(config["model"])
    except UserError as error:
        raise UserError(f"{directory / CONFIG}: {error}") from error
    if tokenizer.vocab_size != model_config.vocab_size:
        raise UserError(
            f"{directory / TOKENIZER} has {tokenizer.vocab_size} pieces, but the model was trained with "
            f"{model_config.vocab_size}: the two files do not belong together"
        )
    model = Transformer(model_config)
    load_weights(directory / WEIGHTS, model)
    return Bundle(model.eval(), tokenizer, config)


def read_config(directory: Path) -> dict[str, Any]:
    """The content of config.json.

    Raises:
        UserError: missing, damaged, or written by a newer version of this program.
    """
    path = directory / CONFIG
    config = read_json(path)
    check_config(config, str(path))
    return config


def check_config(config: Mapping[str, Any], where: str) -> None:
    """Raise UserError unless the settings of a bundle, which stand at ``where``, are all there and known here."""
    if config.get("format", FORMAT) != FORMAT:
        raise UserError(
            f"{where}: format {config['format']} is not known here (this program reads {FORMAT}); update it"
        )
    missing = [key for key in ("format", "source", "target", "model", "tokenizer") if key not in config]
    if missing:
        raise UserError(f"{where}: damaged or not a checkpoint of this program (no {', '.join(missing)})")
    if config["tokenizer"] not in [{"normalization": rule} for rule in FORMS]:
        rules = ", ".join(FORMS)
        raise UserError(f"{where}: tokenizer must hold a normalization of {rules} alone, not {config['tokenizer']!r}")


def load_weights(path: Path, model: Transformer) -> None:
    """Fill ``model`` strictly: every tensor must be there, and none may be left over.

    Raises:
        UserError: damaged file, or names or shapes that do not fit; names the first difference.
    """
    weights, wanted = read_tensors(path), dict(model.named_parameters())
    for name in sorted(wanted.keys() ^ weights.keys()):
        kind = "missing" if name in wanted else "unexpected"
        raise UserError(f"{path}: damaged or not a checkpoint of this program ({kind} tensor {name})")
    for name, parameter in wanted.items():
        if parameter.shape != weights[name].shape:
            found, expected = tuple(weights[name].shape), tuple(parameter.shape)
            raise UserError(f"{path}: {name} has shape {found}, but {CONFIG} beside it asks for {expected}")
    with torch.no_grad():
        for name, parameter in wanted.items():
            parameter.copy_(weights[name])


def newest_bundle(root: str | Path = "checkpoints") -> Path:
    """The bundle under ``root`` whose weights were written last, of those whose training has finished if there are any.

    Raises:
        UserError: there is none.
    """
    found = [path for path in Path(root).glob(f"*/{WEIGHTS}") if (path.parent / CONFIG).is_file()]
    if not found:
        raise UserError(f"no model under {root}/: train one (make demo) or name one with -m DIR")
    return max(found, key=lambda path: ((path.parent / METRICS).is_file(), path.stat().st_mtime, path)).parent
