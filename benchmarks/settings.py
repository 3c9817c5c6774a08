"""What is measured when it is named: the sizes in conf/model, the corpora in conf/data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from translator.errors import UserError, did_you_mean

CONF = Path(__file__).resolve().parent.parent / "conf"
MODELS = tuple(sorted(path.stem for path in (CONF / "model").glob("*.yaml")))
CORPORA = ("pocket", "multi30k")


def read_conf(name: str) -> dict[str, Any]:
    """A file of conf/ as plain values."""
    import yaml

    values: dict[str, Any] = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    return values


def data_settings(names: Sequence[str], root: str | None, languages: Sequence[str]) -> dict[str, Any]:
    """What --data stands for, as the settings in conf/data: a corpus by name, or files to train on."""
    source, target = languages
    if len(names) == 1 and names[0] in CORPORA:
        return {**read_conf(f"data/{names[0]}"), "root": root, "source": source, "target": target}
    if len(names) == 1 and not Path(names[0]).exists():
        raise UserError(f"--data {names[0]}: no such corpus or file{did_you_mean(names[0], CORPORA)}")
    train: Any = names[0] if len(names) == 1 else list(names)
    return {**read_conf("data/files"), "train": train, "source": source, "target": target}
