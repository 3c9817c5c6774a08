"""The moving average: its decay, what it leaves alone, and that it survives a checkpoint."""

from pathlib import Path

import pytest
import torch
from lightning.pytorch import LightningModule, Trainer
from torch import Tensor
from torch.utils.data import DataLoader

from translator.training.trainer import MovingAverage


class Numbers(LightningModule):
    """A weight that is what the batch says after each update."""

    def __init__(self, start: float = 3.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([start, start], dtype=torch.float64))

    def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:
        return ((self.weight - batch) ** 2).sum() / 2

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=1.0)


def follow(values: list[float], decay: float, start: float = 3.0) -> float:
    """The average by its definition, of the start and the weights after each update."""
    average = start  # the first update replaces it: n counts the averaged ones
    for n, value in enumerate(values):
        share = min(decay, (1 + n) / (10 + n)) if n else 0.0
        average = share * average + (1 - share) * value
    return average


def fit(folder: Path, values: list[float], decay: float, epochs: int = 1, resume: str | None = None) -> MovingAverage:
    average = MovingAverage(decay)
    trainer = Trainer(
        accelerator="cpu", max_epochs=epochs, logger=False, callbacks=[average], default_root_dir=folder,
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
    )  # fmt: skip
    module = Numbers()
    trainer.fit(module, DataLoader(torch.tensor(values, dtype=torch.float64)), ckpt_path=resume, weights_only=True)
    trainer.save_checkpoint(folder / "state.ckpt")
    return average


def averaged(average: MovingAverage) -> list[float]:
    model = average._average_model
    assert model is not None
    weight: list[float] = model.module.weight.tolist()
    return weight


@pytest.mark.parametrize("decay", [0.15, 0.5, 0.99])
def test_the_decay_rises_to_what_was_asked_for(tmp_path: Path, decay: float) -> None:
    values = [float(value) for value in (2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3, 5, 3)]
    average = fit(tmp_path, values, decay)
    shuffle_free = follow(values, decay)
    assert averaged(average) == pytest.approx([shuffle_free, shuffle_free], rel=1e-12)


def test_the_average_of_what_stays_is_what_stays(tmp_path: Path) -> None:
    assert averaged(fit(tmp_path, [3.0] * 13, 0.9)) == [3.0, 3.0]


def test_the_average_goes_on_through_a_checkpoint(tmp_path: Path) -> None:
    values = [2.0, 7.0, 1.0, 8.0, 5.0]
    fit(tmp_path, values, 0.9)
    again = fit(tmp_path, values, 0.9, epochs=2, resume=str(tmp_path / "state.ckpt"))
    assert averaged(again) == pytest.approx([follow(values * 2, 0.9)] * 2, rel=1e-12)
