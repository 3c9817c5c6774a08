"""A progress bar on stderr with tokens a second and the latest BLEU."""

import math
import sys
import time
from typing import Any

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import TQDMProgressBar
from lightning.pytorch.callbacks.progress.tqdm_progress import Tqdm

from translator.training.module import TranslationModule
from translator.training.validation import Validation

REFRESH = 20


class Progress(TQDMProgressBar):
    """Lightning's bar, moved off stdout, which holds results only."""

    def __init__(self, validation: Validation) -> None:
        super().__init__(refresh_rate=REFRESH)
        self._validation = validation
        self._since, self._tokens = time.monotonic(), 0

    def init_train_tqdm(self) -> Tqdm:
        """The bar of one epoch."""
        return Tqdm(desc="epoch", dynamic_ncols=True, file=sys.stderr, smoothing=0)

    def init_validation_tqdm(self) -> Tqdm:
        """No bar of its own: a validation takes seconds."""
        return Tqdm(disable=True)

    def on_train_epoch_start(self, trainer: Trainer, *_: Any) -> None:
        """Measure the speed anew."""
        super().on_train_epoch_start(trainer, *_)
        self._restart(trainer.lightning_module)

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the time of validation out of the speed."""
        super().on_validation_end(trainer, pl_module)
        self._restart(pl_module)

    def get_metrics(
        self, trainer: Trainer, pl_module: LightningModule
    ) -> dict[str, int | str | float | dict[str, float]]:
        """What stands behind the bar."""
        shown: dict[str, int | str | float | dict[str, float]] = {}
        if "train_loss" in trainer.callback_metrics:
            shown["loss"] = f"{trainer.callback_metrics['train_loss'].item():.3f}"
        seconds = time.monotonic() - self._since
        shown["tokens/s"] = f"{(_tokens_seen(pl_module) - self._tokens) / max(seconds, 1e-9):,.0f}"
        if not math.isnan(self._validation.latest_bleu):
            shown["bleu"] = f"{self._validation.latest_bleu:.2f}"
        return shown

    def _restart(self, module: LightningModule) -> None:
        self._since, self._tokens = time.monotonic(), _tokens_seen(module)


def _tokens_seen(module: LightningModule) -> int:
    assert isinstance(module, TranslationModule)
    return module.tokens_seen
