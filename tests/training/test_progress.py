"""What stands behind the progress bar."""

from types import SimpleNamespace
from typing import Any

import torch

from translator.training.trainer import Progress


def test_the_bar_shows_loss_speed_and_bleu_once_there_are_any() -> None:
    module: Any = SimpleNamespace(tokens_per_second=12345.6)
    trainer: Any = SimpleNamespace(callback_metrics={})
    assert Progress().get_metrics(trainer, module) == {"tokens/s": "12,346"}
    trainer.callback_metrics = {"valid_bleu": torch.tensor(7.129), "train_loss": torch.tensor(2.34567), "lr": 1}
    shown = Progress().get_metrics(trainer, module)
    assert list(shown.items()) == [("loss", "2.346"), ("tokens/s", "12,346"), ("bleu", "7.13")]
