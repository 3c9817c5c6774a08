"""The arithmetic of one update, apart from the loop around it: what training runs and what the benchmark times."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from translator.data.batching import Batch
from translator.model.transformer import Transformer
from translator.training.config import OptimizerConfig
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

    Returns the norm before it is clipped.
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
    return AdamW(groups, lr=config.lr, betas=config.betas, eps=config.eps, fused=True)
