"""Tiny trainings on a generated parallel corpus, through the settings that the command composes."""

import copy
import functools
import hashlib
from pathlib import Path
from typing import Any

import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from tests import toy
from translator.training.run import train

CONF = Path(__file__).resolve().parents[2] / "conf"
PAIRS = {"train": 41, "valid": 5, "test": 4}
#: Seven batches an epoch, no two epochs alike, an update or two in vain.
TINY = (
    "data=files", "data.source=aa", "data.target=bb", "tokenizer.vocab_size=70",
    "model.d_model=12", "model.n_heads=2", "model.n_encoder_layers=1", "model.n_decoder_layers=1", "model.d_ff=17",
    "decode.max_length=11", "optimizer.lr=0.02", "schedule=inverse_sqrt", "schedule.warmup=5", "batch.max_tokens=110",
    "trainer=cpu", "trainer.precision=32-true", "trainer.threads=1", "trainer.max_epochs=3", "trainer.save_every=3",
)  # fmt: skip


@functools.cache
def _composed(overrides: tuple[str, ...]) -> dict[str, Any]:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", list(overrides))
    settings = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(settings, dict)
    return {str(key): value for key, value in settings.items()}


def composed(*overrides: str) -> dict[str, Any]:
    """The settings that the command would be given."""
    return copy.deepcopy(_composed(overrides))


def write_corpus(folder: Path, longest: int = 5, **pairs: int) -> dict[str, list[str]]:
    """Parallel files of the toy language; the paths of each part as ``data`` takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[str, list[str]] = {}
    for seed, (part, count) in enumerate((PAIRS | pairs).items()):
        sources = toy.sentences(count, seed, longest)
        paths[part] = [str(folder / f"{part}.aa"), str(folder / f"{part}.bb")]
        for path, lines in zip(paths[part], (sources, map(toy.expected, sources)), strict=True):
            Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def settings_for(folder: Path, *overrides: str, name: str = "run") -> dict[str, Any]:
    """Tiny settings on the corpus in ``folder/data``, written if it is not there, for a run in ``folder/name``."""
    settings = composed(*TINY, *overrides)
    parts = write_corpus(folder / "data") if not (folder / "data").exists() else None
    paths = parts or {part: [str(folder / f"data/{part}.{side}") for side in ("aa", "bb")] for part in PAIRS}
    settings["data"] |= paths
    return settings | {"checkpoints": str(folder), "name": name}


def resumed(settings: dict[str, Any]) -> dict[str, Any]:
    return train({**settings, "resume": "auto"})


def state(folder: Path) -> dict[str, Any]:
    """The newest state, read as safely as it must be readable."""
    loaded: dict[str, Any] = torch.load(folder / "training/last.ckpt", weights_only=True)
    return loaded


def fingerprints(folder: Path) -> dict[str, str]:
    """SHA-256 of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def curves(folder: Path) -> dict[tuple[int, str], float]:
    """What was logged, by (update, name); what was logged again after a resume replaces what was before."""
    values: dict[tuple[int, str], float] = {}
    files = (folder / "training/csv").glob("version_*/metrics.csv")
    for file in sorted(files, key=lambda path: int(path.parent.name.removeprefix("version_"))):
        header, *rows = (line.split(",") for line in file.read_text(encoding="utf-8").splitlines())
        for row in (dict(zip(header, cells, strict=True)) for cells in rows):
            step = int(row.pop("step"))
            values |= {(step, name): float(value) for name, value in row.items() if value and name != "epoch"}
    return values
