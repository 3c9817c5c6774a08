"""Putting other ways to compute the matrix products of a finished model in the place of its `nn.Linear`."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from translator.model.layers import FeedForward
from translator.model.transformer import Transformer

#: Of W, b and whether a ReLU follows: what computes x W^T + b, or the positive part of that.
Product = Callable[[Tensor, Tensor | None, bool], nn.Module]


def replace_products(model: Transformer, product: Product, least: int = 0) -> None:
    """Replace the product with the vocabulary and every `nn.Linear` of ``least`` weights or more, in place.

    A ReLU that follows one goes with it, where it costs no pass of its own.
    """
    model.projection = product(model.output.weight, model.logit_bias(), False)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and child.weight.numel() >= least:
                relu = isinstance(module, FeedForward) and name == "up" and module.activate is F.relu
                setattr(module, name, product(child.weight, child.bias, relu))
                if relu:
                    module.activate = nn.Identity()
