"""A few more epochs for a model that has been changed, with the settings and the corpus of the run it came from."""

from pathlib import Path
from typing import Any

from translator.bundle import Bundle
from translator.errors import UserError
from translator.files import read_json
from translator.training.run import train
from translator.training.run_directory import RunDirectory

#: Share of the first training's peak learning rate: the weights are near an optimum already, and are to stay there.
LR_SHARE = 0.25
#: Updates of warm-up at most: a short training has none to waste.
WARMUP = 100


def finetune(start: Bundle, trained_in: Path, output: Path, epochs: int, lr_share: float = LR_SHARE) -> dict[str, Any]:
    """Train ``start`` for some epochs as the run in ``trained_in`` was trained; the bundle is written to ``output``.

    Settings are those of that run, but for the length, a share of its peak learning rate and a short warm-up.
    It can be resumed as any run, with init_from=OUTPUT. Returns the figures that `train` returns.

    Raises:
        UserError: that folder does not say how it was trained, or as `train`.
    """
    path = RunDirectory(trained_in).settings
    if not path.is_file():
        raise UserError(
            f"{path} is missing, so nothing says how to train on: write the bundle without fine-tuning, "
            "then python scripts/train.py init_from=BUNDLE data=... name=..."
        )
    settings = read_json(path)
    optimizer, schedule, trainer = (settings[part] for part in ("optimizer", "schedule", "trainer"))
    changed = {
        "optimizer": {**optimizer, "lr": optimizer["lr"] * lr_share},
        "schedule": {**schedule, "warmup": min(schedule["warmup"], WARMUP)},
        "trainer": {**trainer, "max_epochs": epochs, "max_updates": None, "max_minutes": None},
        "checkpoints": str(output.parent),
        "name": output.name,
        "variant": None,
        "resume": None,
        "init_from": str(output),  # what a resumed run begins with
    }
    return train({**settings, **changed}, start)
