"""One training step, one validation step, one optimizer: all that Lightning asks of a model."""

import logging
import math
import time
from typing import Any

import torch
from lightning.pytorch import LightningModule
from torch import Tensor
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from translator.data.batching import Batch
from translator.model.transformer import Transformer
from translator.training.config import OptimizerConfig, ScheduleConfig, TrainingConfig
from translator.training.loss import smoothed_cross_entropy
from translator.training.schedule import schedule

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
        self.tokens_in_window = 0
        self.tokens_seen = 0
        self.seconds = 0.0  # spent on training batches by this process, validations left out
        self._began = 0.0

    def on_train_start(self) -> None:
        """Take the learning rate from the schedule as it is now: a resumed run may have been given a later end."""
        for config in self.trainer.lr_scheduler_configs:
            scheduler = config.scheduler
            assert isinstance(scheduler, LambdaLR)
            for group, base, factor in zip(
                scheduler.optimizer.param_groups, scheduler.base_lrs, scheduler.lr_lambdas, strict=True
            ):
                group["lr"] = base * factor(scheduler.last_epoch)
        batches, window = int(self.trainer.num_training_batches), self.trainer.accumulate_grad_batches
        if batches < window:
            logger.warning(
                "an epoch has %d batches, fewer than trainer.accumulate_grad_batches=%d: "
                "an update is made from %d, at the end of each epoch", batches, window, batches,
            )  # fmt: skip

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """Seed the dropout from the position in training, so that a resumed run draws what it would have drawn."""
        self._began = time.perf_counter()
        position = self.trainer.fit_loop.epoch_loop.batch_progress.total.ready
        world, rank = self.trainer.world_size, self.trainer.global_rank
        torch.manual_seed(self.config.seed * _SEED_STRIDE + position * world + rank)

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
        """Take the time."""
        self.seconds += time.perf_counter() - self._began

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Label-smoothed loss summed over the real target tokens, in nats."""
        loss, nll = self._losses(batch, self.config.label_smoothing)
        self.tokens_in_window += batch.n_tokens
        self.tokens_seen += batch.n_tokens + batch.n_source_tokens
        self.log("train_loss", nll / batch.n_tokens, on_step=True, batch_size=batch.n_tokens)
        return loss

    def validation_step(self, batch: Batch, batch_idx: int) -> dict[str, Any]:
        """Negative log-likelihood summed over the real target tokens, and their number."""
        return {"nll": self._losses(batch, 0.0)[1], "tokens": batch.n_tokens}

    def _losses(self, batch: Batch, smoothing: float) -> tuple[Tensor, Tensor]:
        memory = self.model.encode(batch.src_ids, batch.src_valid)
        hidden = self.model.decode(batch.tgt_in, memory, batch.src_valid)
        real = hidden[batch.tgt_valid]  # (M, D): padding takes no part in the costly vocabulary layer
        targets = batch.tgt_out[batch.tgt_valid]
        weight, bias = self.model.output.weight, self.model.output_bias
        return smoothed_cross_entropy(real, weight, targets, self.model.impossible, smoothing, bias)

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Turn summed gradients into the mean over the tokens of the window, then clip their norm."""
        gradients = [p.grad for p in self.parameters() if p.grad is not None]
        tokens = torch.tensor(float(self.tokens_in_window), device=self.device)
        tokens = self.trainer.strategy.reduce(tokens, reduce_op="sum")
        # Lightning has divided by the nominal size of the window, and averaged over the processes.
        factor = self.trainer.accumulate_grad_batches * self.trainer.world_size / tokens
        torch._foreach_mul_(gradients, factor)
        self.tokens_in_window = 0
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), self.config.trainer.gradient_clip or float("inf"))
        self.log("gradient_norm", norm)

    def configure_optimizers(self) -> Any:
        """AdamW and the schedule, which moves once an update."""
        total = self.trainer.estimated_stepping_batches
        optimizer = build_optimizer(self.model, self.config.optimizer)
        scheduler = build_scheduler(optimizer, self.config.schedule, int(total) if math.isfinite(total) else 0)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def build_optimizer(model: Transformer, config: OptimizerConfig) -> AdamW:
    """AdamW with weight decay on matrices; biases and norms go without."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return AdamW(groups, lr=config.lr, betas=config.betas, eps=config.eps, fused=True)


def build_scheduler(optimizer: AdamW, config: ScheduleConfig, total_updates: int) -> LambdaLR:
    """The learning rate as a function of the number of updates."""
    return LambdaLR(optimizer, schedule(config, total_updates))
