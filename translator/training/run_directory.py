"""The folder of a run: claimed once, never overwritten, resumed on request."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from translator.bundle import SETTINGS
from translator.errors import UserError
from translator.files import make_folder, read_json, write_json
from translator.model.config import ModelConfig


class RunDirectory:
    """``checkpoints/NAME``: the bundle, and under ``training/`` what only resuming needs."""

    def __init__(self, path: Path) -> None:
        self.path, self.training = path, path / "training"
        self.settings = path / SETTINGS  # as they were composed when the run was started
        self.last = self.training / "last.ckpt"  # the newest state of training

    def check(self, resume: str | None) -> None:
        """Refuse before any work is done what `claim` would refuse after it.

        Raises UserError where ``resume`` has no meaning, or the folder is in use and the run is not a resumed one.
        """
        if resume not in (None, "auto"):
            raise UserError(f"resume must be auto or null, not {resume!r}")
        if resume is None and self.path.exists():
            raise UserError(
                f"{self.path} exists and is never overwritten: go on with it by resume=auto, or choose another name=..."
            )
        if self.path.exists() and not self.settings.is_file():
            raise UserError(f"{self.path} is not a run of this program: choose another name=...")

    def claim(self, settings: Mapping[str, Any], resume: str | None) -> None:
        """Create the folder, or take up the existing one; of two runs started at once only one succeeds.

        Raises UserError where another run has taken the name, or settings differ that a resumed run cannot change.
        """
        self.check(resume)
        if not self.path.exists():
            make_folder(self.path.parent)
            try:
                self.path.mkdir()
            except FileExistsError as error:
                raise UserError(f"{self.path} was taken by another run just now: choose another name=...") from error
            self.training.mkdir()
            write_json(self.settings, settings)
            return
        now = _fixed(settings)
        for name, before in _fixed(read_json(self.settings)).items():
            if before != now.get(name):
                raise UserError(
                    f"cannot resume {self.path}: {name} was {before!s:.160} and is now {now.get(name)!s:.160}; "
                    "give the same settings, or choose another name=..."
                )

    def updates_done(self) -> int:
        """The number of updates behind the newest state.

        Raises UserError where the file is damaged, or holds more than numbers and tensors (nothing of it is run).
        """
        try:
            return int(torch.load(self.last, map_location="cpu", weights_only=True, mmap=True)["global_step"])
        except Exception as error:
            raise UserError(
                f"{self.last}: damaged or not a state of training of this program "
                f"({str(error).splitlines()[0]}); remove it to start this run from the beginning"
            ) from error


def _fixed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a resumed run cannot change, by dotted names: it is another run then, or the state brings its own.

    The state of training holds the optimizer's numbers, and what counts validations in vain. Everything else (ends,
    schedule, smoothing, search, ...) is taken as it is given. A key that is not among the settings of an older run did
    not exist then: the model's have their defaults, and others are not compared. A seed of the pocket corpus is among
    the data of older runs alone; the fingerprint stands for it.
    """
    parts = {part: settings.get(part) or {} for part in ("data", "tokenizer", "optimizer")}
    parts["model"] = asdict(ModelConfig.from_dict(settings.get("model") or {}))
    parts["trainer"] = {key: settings["trainer"][key] for key in ("monitor", "patience") if key in settings["trainer"]}
    found = {f"{part}.{key}": value for part, values in parts.items() for key, value in values.items()}
    found.pop("data.seed", None)
    return {**found, "seed": settings.get("seed"), "fingerprint": settings.get("fingerprint")}
