"""The arithmetic of one update, apart from the loop around it: what training runs and what the benchmark times."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from translator.data.batching import Batch
from translator.model.transformer import Transformer
from translator.training.config import OptimizerConfig, ScheduleConfig
from translator.training.loss import smoothed_cross_entropy


def losses(model: Transformer, batch: Batch, smoothing: float) -> tuple[Tensor, Tensor]:
    """Teacher-forced loss and negative log-likelihood, summed over the batch's real target tokens, in nats."""
    memory = model.encode(batch.src_ids, batch.src_valid)
    hidden = model.decode(batch.tgt_in, memory, batch.src_valid)
    real = hidden[batch.tgt_valid]  # (M, D): padding takes no part in the costly vocabulary layer
    targets = batch.tgt_out[batch.tgt_valid]
    return smoothed_cross_entropy(real, model.output.weight, targets, model.excluded_ids, smoothing, model.output_bias)


def average_and_clip(parameters: Iterable[nn.Parameter], factor: Tensor, limit: float) -> Tensor:
    """Multiply summed gradients by ``factor``, which makes means of them, then clip their norm to ``limit`` (0: not).

    Returns the norm before it is clipped. Both in one pass over the gradients; `clip_grad_norm_` would be a second.
    """
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients))) * factor
    share = (limit / (norm + 1e-6)).clamp_max(1.0) if limit else 1.0
    torch._foreach_mul_(gradients, factor * share)
    return norm


def build_optimizer(model: Transformer, config: OptimizerConfig) -> AdamW:
    """AdamW with weight decay on matrices; biases and norms go without."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return AdamW(groups, lr=config.lr, betas=(config.betas[0], config.betas[1]), eps=config.eps, fused=True)


def schedule(config: ScheduleConfig, total_updates: int) -> Callable[[int], float]:
    """The share of the peak rate for the update that follows so many finished ones.

    After a linear warm-up from above 0, ``inverse_sqrt`` falls with 1 / sqrt(update) (Vaswani 2017, 5.3) and needs no
    end in sight, ``cosine`` falls to zero at ``total_updates`` (Loshchilov 2017, 1608.03983), and ``constant`` stays.
    """
    warmup = max(config.warmup, 1)

    def share(finished: int) -> float:
        update = finished + 1
        if update <= warmup:
            return update / warmup
        if config.kind == "inverse_sqrt":
            return math.sqrt(warmup / update)
        if config.kind == "cosine":
            progress = (update - warmup) / max(total_updates - warmup, 1)
            return 0.5 * (1.0 + math.cos(math.pi * min(progress, 1.0)))
        return 1.0

    return share
