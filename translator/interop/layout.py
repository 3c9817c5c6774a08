"""The order of the residual stream's dimensions, which a model does not notice.

Our sinusoids alternate (sin, cos, sin, cos), those of Marian and its relatives come in halves (all sin, all cos), with
the same frequencies (both are Vaswani 2017, 3.5, up to the order). If every weight that reads or writes the residual
stream has its rows or columns put in the other order, all activations are the same numbers in that order: layer norms
look at the set of numbers only, residual sums stay sums, and heads, feed-forward layers and logits are never permuted.
So the exported model is exact, up to the order in which sums are rounded, and needs no table of its own: programs
that make their sinusoids anew make the right ones.
"""

import torch
from torch import Tensor

from translator.errors import UserError
from translator.model.config import ModelConfig

_READ = (
    "tokens.weight",
    "learned.weight",
    "output.weight",
    "q_proj.weight",
    "k_proj.weight",
    "v_proj.weight",
    "up.weight",
)
_WRITTEN = ("out_proj.weight", "out_proj.bias", "down.weight", "down.bias", "norm.weight", "norm.bias")
_INSIDE = ("q_proj.bias", "k_proj.bias", "v_proj.bias", "up.bias")


def their_order(config: ModelConfig) -> Tensor:
    """Which of our dimensions stands at each of theirs (D,): even ones first, for sinusoids; else all as they are."""
    dimensions = torch.arange(config.d_model)
    if config.positions != "sinusoidal":
        return dimensions
    return torch.cat((dimensions[0::2], dimensions[1::2]))


def reordered(name: str, weight: Tensor, order: Tensor) -> Tensor:
    """A copy of the parameter ``name`` with its residual dimension, if it has one, in the given order (D,).

    Raises:
        UserError: a parameter that is not known here, so that its place in the residual stream is not, either.
    """
    if name.endswith(_READ):
        return weight.index_select(1, order)  # (out, D) of a projection, (V, D) of embeddings
    if name.endswith(_WRITTEN):
        return weight.index_select(0, order)  # (D, in), (D,)
    if name.endswith(_INSIDE):
        return weight.clone()
    raise UserError(f"the parameter {name} has no counterpart in other programs, so the model cannot be exported")
