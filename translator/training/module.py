"""One training step, one validation step, one optimizer: all that Lightning asks of a model."""

import logging
import math
import time
from typing import Any

import torch
from lightning.pytorch import LightningModule
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from translator.data.batching import Batch
from translator.model.transformer import Transformer
from translator.training.config import TrainingConfig
from translator.training.step import average_and_clip, build_optimizer, losses, schedule

logger = logging.getLogger("translator")

_SEED_STRIDE = 1_000_003  # a prime, so that neighbouring seeds do not share the randomness of neighbouring batches


class TranslationModule(LightningModule):
    """Trains a `Transformer` on token-weighted updates.

    A step returns the loss summed over its tokens; before an update the gradients are divided by all tokens of the
    accumulation window (and of all processes), so that k small batches weigh exactly as one large batch does, also
    where the last window of an epoch is incomplete.
    """

    def __init__(self, model: Transformer, config: TrainingConfig) -> None:
        super().__init__()
        self.model, self.config = model, config
        self.tokens_in_window, self._tokens, self._seconds, self._began = 0, 0, 0.0, 0.0

    @property
    def tokens_per_second(self) -> float:
        """Real tokens of both sides that this process has trained on in a second; validations are left out."""
        return self._tokens / max(self._seconds, 1e-9)

    def on_train_start(self) -> None:
        """Take the learning rate from the schedule as it is now: a resumed run may have been given a later end."""
        plan: Any = self.lr_schedulers()
        for group, base, share in zip(plan.optimizer.param_groups, plan.base_lrs, plan.lr_lambdas, strict=True):
            group["lr"] = base * share(plan.last_epoch)
        batches, window = int(self.trainer.num_training_batches), self.trainer.accumulate_grad_batches
        if batches < window:
            message = "an epoch has %d batches, fewer than trainer.accumulate_grad_batches=%d: "
            logger.warning(f"{message}an update is made from %d, at the end of each epoch", batches, window, batches)

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Seed the dropout from the position in training, so that a resumed run draws what it would have drawn."""
        self._began = time.perf_counter()
        position = self.trainer.fit_loop.epoch_loop.batch_progress.total.ready
        world, rank = self.trainer.world_size, self.trainer.global_rank
        torch.manual_seed(self.config.seed * _SEED_STRIDE + position * world + rank)

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
        """Take the time."""
        self._seconds += time.perf_counter() - self._began

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Label-smoothed loss summed over the real target tokens, in nats."""
        loss, nll = losses(self.model, batch, self.config.label_smoothing)
        self.tokens_in_window += batch.n_tokens
        self._tokens += batch.n_tokens + batch.n_source_tokens
        self.log("train_loss", nll / batch.n_tokens, on_step=True, batch_size=batch.n_tokens)
        return loss

    def validation_step(self, batch: Batch, batch_idx: int) -> dict[str, Any]:
        """Negative log-likelihood summed over the real target tokens, and their number."""
        return {"nll": losses(self.model, batch, 0.0)[1], "tokens": batch.n_tokens}

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: Any, **__: Any) -> None:
        """Turn summed gradients into the mean over the tokens of the window, then clip their norm."""
        tokens = torch.tensor(float(self.tokens_in_window), device=self.device)
        tokens = self.trainer.strategy.reduce(tokens, reduce_op="sum")
        # Lightning has divided by the nominal size of the window, and averaged over the processes.
        factor = self.trainer.accumulate_grad_batches * self.trainer.world_size / tokens
        self.tokens_in_window = 0
        self.log("gradient_norm", average_and_clip(self.parameters(), factor, self.config.trainer.gradient_clip))

    def configure_optimizers(self) -> Any:
        """AdamW and the schedule, which moves once an update."""
        total = self.trainer.estimated_stepping_batches
        optimizer = build_optimizer(self.model, self.config.optimizer)
        plan = schedule(self.config.schedule, int(total) if math.isfinite(total) else 0)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": LambdaLR(optimizer, plan), "interval": "step"}}
