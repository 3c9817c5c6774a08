"""Label-smoothed cross-entropy that never holds the whole matrix of logits.

With V classes of which A may be produced, the target distribution puts 1 - eps + eps/A on the reference token and
eps/A on every other producible token (Szegedy 2016, 1512.00567, section 7; Vaswani 2017, 5.4). The eps/A is alike for
all: summed over the classes it is one product with the sum w of their vectors, in the loss (a row's logits sum to
hidden w) as in the gradient, so that no matrix of tokens by vocabulary is gone through for it.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, dtype
from torch.autograd.function import once_differentiable

#: Rows whose logits are held at a time, in the type of the products; bounds the memory.
BLOCK = 1024
#: Rows whose exponentials are taken at a time, in float32; few enough to stay in a CPU's cache.
CHUNK = 32


def smoothed_cross_entropy(
    hidden: Tensor, weight: Tensor, targets: Tensor, impossible: Tensor, smoothing: float, bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Hidden (M, D), output embeddings (V, D), targets (M,) -> (loss, nll), both summed over the M tokens, in nats.

    Only real tokens are given, so padding can neither add to the loss nor dilute it. ``impossible`` ids get no
    probability and no smoothing mass. A ``bias`` (V,) is added to all logits. ``nll`` is without smoothing and carries
    no gradient. Under autocast the matrix products run in its type; everything else stays in float32 or better.
    """
    if bias is not None:  # the weights of one more input, which is always 1
        hidden, weight = F.pad(hidden, (0, 1), value=1.0), torch.cat((weight, bias[:, None]), dim=1)
    device = hidden.device.type
    products = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype
    with torch.autocast(device, enabled=False):
        loss, nll = _ChunkedLoss.apply(hidden, weight, targets, impossible, smoothing, products)  # type: ignore[no-untyped-call]
    return loss, nll


class _ChunkedLoss(torch.autograd.Function):
    """The gradient is formed in the forward pass, block by block, while the logits are at hand.

    No (M, V) matrix is kept for the backward pass, and two buffers serve all rows: the vocabulary layer is about half
    of a small model's training step, and most of that is memory traffic.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, impossible: Tensor, smoothing: float, products: dtype
    ) -> tuple[Tensor, Tensor]:
        """See `smoothed_cross_entropy`; ``products`` is the type of the matrix products."""
        wide = torch.promote_types(products, torch.float32)
        narrow_weight = weight.to(products)
        nll, log_mass = (torch.zeros((), dtype=wide, device=hidden.device) for _ in range(2))
        need_gradient = any(ctx.needs_input_grad)
        grad_hidden = torch.empty_like(hidden, dtype=wide) if need_gradient else None
        grad_weight = torch.zeros_like(weight, dtype=wide) if need_gradient else None
        block = torch.empty(min(BLOCK, len(hidden)), len(weight), dtype=products, device=hidden.device)
        exact = torch.empty(min(CHUNK, len(hidden)), len(weight), dtype=wide, device=hidden.device)
        for start in range(0, len(hidden), BLOCK):
            rows = slice(start, min(start + BLOCK, len(hidden)))
            narrow, grads, masses = hidden[rows].to(products), block[: rows.stop - start], []
            torch.mm(narrow, narrow_weight.t(), out=grads)
            for logits, labels in zip(grads.split(CHUNK), targets[rows].split(CHUNK), strict=True):
                # Turned into exp(logit - highest of the row): probabilities are these divided by their sum, the mass.
                terms = exact[: len(logits)].copy_(logits).index_fill_(1, impossible, float("-inf"))
                highest = terms.amax(dim=1, keepdim=True)
                mass = terms.sub_(highest).exp_().sum(dim=1, keepdim=True)
                log_mass_of_chunk = (mass.log() + highest).sum()
                log_mass += log_mass_of_chunk
                nll += log_mass_of_chunk - logits.gather(1, labels[:, None]).sum(dtype=wide)
                if need_gradient:
                    logits.copy_(terms.scatter_add_(1, labels[:, None], (smoothing - 1.0) * mass))
                    masses.append(mass)
            if grad_hidden is not None and grad_weight is not None:
                # Rows of the gradient are divided by their masses in the small factors of the products.
                mass = torch.cat(masses)
                torch.div(grads @ narrow_weight, mass, out=grad_hidden[rows])
                grad_weight += grads.t() @ (narrow / mass).to(products)
        share = smoothing / (len(weight) - len(impossible))
        of_all_hidden, of_all_weights = hidden.sum(0, dtype=wide), weight.sum(0, dtype=wide)
        of_all_weights -= weight[impossible].sum(0, dtype=wide)
        loss = (1.0 - smoothing) * nll + smoothing * log_mass - share * (of_all_hidden @ of_all_weights)
        if grad_hidden is not None and grad_weight is not None:
            grad_hidden -= share * of_all_weights
            grad_weight -= share * of_all_hidden
            grad_weight[impossible] = 0.0
        ctx.save_for_backward(grad_hidden, grad_weight)
        ctx.kinds = hidden.dtype, weight.dtype
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Scale what the forward pass has formed."""
        grads = [(g * grad_loss).to(kind) for g, kind in zip(ctx.saved_tensors, ctx.kinds, strict=True)]
        return grads[0], grads[1], None, None, None, None
