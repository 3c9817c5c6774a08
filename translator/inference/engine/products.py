"""Putting other ways to compute the matrix products of a finished model in the place of its `nn.Linear`."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from translator.model.layers import FeedForward
from translator.model.transformer import Transformer

#: What computes x W^T + b, and the positive part of that where relu is true, in place of a product; None: it stays.
Substitute = Callable[[nn.Linear, bool], nn.Module | None]


def replace_products(model: Transformer, substitute: Substitute) -> None:
    """Replace products in place; a ReLU that follows one goes with it, where it costs no pass of its own."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                relu = isinstance(module, FeedForward) and name == "up" and module.activate is F.relu
                other = substitute(child, relu)
                if other is not None:
                    setattr(module, name, other)
                    if relu and isinstance(module, FeedForward):
                        module.activate = _as_it_is


def _as_it_is(x: Tensor) -> Tensor:
    return x
