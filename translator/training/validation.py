"""Validation: the loss, the BLEU of what the model really writes, and the best weights kept."""

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer

from translator.bundle import save_weights
from translator.data.parallel import ParallelText
from translator.data.tokenizer import Tokenizer
from translator.evaluation import evaluate
from translator.inference.segmentation import Limits
from translator.inference.translator import Translator
from translator.training.module import TranslationModule

logger = logging.getLogger("translator")


@dataclass(eq=False)
class Validation(Callback):
    """Translates the validation text through the code path that users call, scores it, and keeps the best weights.

    Must stand before the weight averaging among the callbacks: that one puts the averaged weights in place when a
    validation begins, and takes them out in the hook in which this one translates.
    ``best`` is the best validation so far: the value of what is monitored, its loss, and where in training it was.
    """

    text: ParallelText
    tokenizer: Tokenizer
    limits: Limits
    directory: Path
    search: Mapping[str, Any]
    monitor: str
    best: dict[str, float] = field(
        default_factory=lambda: {"value": -math.inf, "loss": math.inf, "update": 0, "epoch": 0}
    )
    _nll: float = 0.0
    _tokens: int = 0
    _began: float = field(default_factory=time.monotonic)

    def on_validation_batch_end(self, trainer: Trainer, pl_module: LightningModule, outputs: Any, *_: Any) -> None:
        """Add a batch to the sums of the loss."""
        self._nll += float(outputs["nll"])
        self._tokens += int(outputs["tokens"])

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Translate, score, report, and keep the weights if they are the best so far."""
        assert isinstance(pl_module, TranslationModule)
        sums = torch.tensor([self._nll, float(self._tokens)], device=pl_module.device)
        nll, tokens = trainer.strategy.reduce(sums, reduce_op="sum").tolist()
        loss = nll / max(tokens, 1.0)
        self._nll, self._tokens = 0.0, 0
        hypotheses = self._translate(trainer, pl_module)
        bleu = evaluate(hypotheses, self.text.targets).bleu
        pl_module.log_dict({"valid_bleu": bleu, "valid_loss": loss}, rank_zero_only=True)
        value = bleu if self.monitor == "bleu" else -loss
        # Of equal values the lower loss is better: while a model learns its first words, BLEU is 0 for many epochs.
        better = (value, -loss) > (self.best["value"], -self.best["loss"])
        if better:
            self.best = {"value": value, "loss": loss, "update": trainer.global_step, "epoch": trainer.current_epoch}
        if trainer.is_global_zero:
            if better:
                save_weights(self.directory, pl_module.model)
            self._report(trainer, hypotheses, bleu, loss, better)

    def _translate(self, trainer: Trainer, module: TranslationModule) -> list[str]:
        """Every process translates every n-th line; all get all lines, in order."""
        rank, world = trainer.global_rank, trainer.world_size
        translator = Translator(module.model, self.tokenizer, limits=self.limits)
        own = [t.text for t in translator.translate(self.text.sources[rank::world], **self.search)]
        if world == 1:
            return own
        parts: list[list[str]] = [[] for _ in range(world)]
        torch.distributed.all_gather_object(parts, own)
        hypotheses = [""] * len(self.text.sources)
        for r, part in enumerate(parts):
            hypotheses[r::world] = part
        return hypotheses

    def _report(self, trainer: Trainer, hypotheses: list[str], bleu: float, loss: float, better: bool) -> None:
        """One line of figures, three translations."""
        minutes, kept = (time.monotonic() - self._began) / 60, " (best so far, kept)" if better else ""
        message = "epoch %d, update %d, %.1f min: valid_bleu %.2f, valid_loss %.3f%s"
        logger.info(message, trainer.current_epoch + 1, trainer.global_step, minutes, bleu, loss, kept)
        for lines in zip(self.text.sources[:3], self.text.targets, hypotheses, strict=False):
            for name, line in zip(("source", "reference", "hypothesis"), lines, strict=True):
                logger.info("  %-10s %s", name, line)

    def state_dict(self) -> dict[str, Any]:
        """The best so far travels in the checkpoint: a resumed run must not take its first validation for it."""
        return self.best

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """See `state_dict`."""
        self.best = state_dict
