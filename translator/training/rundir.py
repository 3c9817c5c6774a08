"""The folder of a run: claimed once, never overwritten, resumed on request."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from translator.checkpoint import CONFIG, METRICS, SETTINGS, read_json, write_json
from translator.errors import UserError

RESUME_VALUES = (None, "auto")


@dataclass(frozen=True)
class RunDirectory:
    """``checkpoints/NAME``: the bundle, and under ``training/`` what only resuming needs."""

    path: Path

    @property
    def training(self) -> Path:
        """Resume checkpoint, settings and logs."""
        return self.path / "training"

    @property
    def last(self) -> Path:
        """The newest state of training."""
        return self.training / "last.ckpt"

    @property
    def settings(self) -> Path:
        """The composed settings that the run was started with."""
        return self.path / SETTINGS

    def check(self, resume: str | None) -> None:
        """Refuse before any work is done what `claim` would refuse after it.

        Raises:
            UserError: ``resume`` has no meaning, or the folder is in use and the run is not a resumed one.
        """
        if resume not in RESUME_VALUES:
            raise UserError(f"resume must be auto or null, not {resume!r}")
        if resume is None and self.path.exists():
            raise UserError(
                f"{self.path} exists and is never overwritten: go on with it by resume=auto, or choose another name=..."
            )
        if self.path.exists() and not self.settings.is_file():
            raise UserError(f"{self.path} is not a run of this program: choose another name=...")

    def claim(self, settings: Mapping[str, Any], resume: str | None) -> None:
        """Create the folder, or take up the existing one; of two runs started at once only one succeeds.

        Raises:
            UserError: another run has taken the name, or the model or data differ from the run to be resumed.
        """
        self.check(resume)
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self.path.mkdir()
            except FileExistsError as error:
                raise UserError(f"{self.path} was taken by another run just now: choose another name=...") from error
            self.training.mkdir()
            write_json(self.settings, settings)
            return
        before = read_json(self.settings)
        for part in ("model", "data", "tokenizer", "seed", "fingerprint"):
            if before.get(part) != settings.get(part):
                raise UserError(
                    f"cannot resume {self.path}: {part} was {_shorten(before.get(part))} and is now "
                    f"{_shorten(settings.get(part))}; give the same settings, or choose another name=..."
                )

    def updates_done(self) -> int:
        """The number of updates behind the newest state.

        Raises:
            UserError: the file is damaged, or holds more than numbers and tensors (nothing of it is run).
        """
        try:
            return int(torch.load(self.last, map_location="cpu", weights_only=True, mmap=True)["global_step"])
        except Exception as error:
            raise UserError(
                f"{self.last}: damaged or not a state of training of this program "
                f"({str(error).splitlines()[0]}); remove it to start this run from the beginning"
            ) from error

    def finished_metrics(self) -> dict[str, Any] | None:
        """The figures of a run that has ended, None of one that has not."""
        path = self.path / METRICS
        return read_json(path) if path.is_file() else None

    def has_tokenizer(self) -> bool:
        """Whether the bundle's constant files have been written: the configuration is the last of them."""
        return (self.path / CONFIG).is_file()


def _shorten(value: object) -> str:
    text = str(value)
    return text if len(text) <= 160 else text[:157] + "..."
