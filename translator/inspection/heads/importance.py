"""How much the loss depends on each head: the gradient of its gate."""

import torch
from torch import Tensor

from translator.attention.heads import attentions, gated
from translator.inference.teacher_forcing import pair_log_probs
from translator.inspection.heads.names import Head, places
from translator.inspection.heads.study import Study


def importance(study: Study) -> dict[Head, float]:
    """I_h = mean over pairs of |d L / d xi_h|, divided by the L2 norm of its layer (Michel 2019, 1905.10650, 2.2, 4.1).

    L is the pair's -log p(target | source) in nats, a sum over target pieces; xi_h is the gate of head h, at 1. The
    absolute value is taken for each pair, before the mean. "Layer" is one attention of one layer: the squares of its
    heads' importance sum to 1, so that layers compare, as the paper found it takes.
    """
    raw = gate_gradients(study)
    tiny = torch.finfo(torch.float64).tiny
    return {
        head: float(raw[head.site][place] / raw[head.site].norm().clamp_min(tiny))
        for head, place in places(study.model).items()
    }


def gate_gradients(study: Study) -> dict[str, Tensor]:
    """Mean over pairs of |d L / d xi| of every head that is there, by site (H,), not normalised."""
    model = study.model
    sites = {site: attention for site, attention in attentions(model).items() if attention.n_heads}
    weight = model.output.weight
    sums = {site: torch.zeros(attention.n_heads, dtype=torch.float64) for site, attention in sites.items()}
    for batch in study.batches:
        gates = {
            site: weight.new_ones(len(batch.src_ids), attention.n_heads).requires_grad_()
            for site, attention in sites.items()
        }
        with torch.enable_grad(), gated(model, gates):
            total = pair_log_probs(model, batch).sum()  # a pair's gates move that pair's loss alone
        gradients = torch.autograd.grad(total, list(gates.values()))
        for site, gradient in zip(gates, gradients, strict=True):
            sums[site] += gradient.abs().sum(dim=0).double().cpu()
    return {site: total / len(study.text) for site, total in sums.items()}
