"""Our parameters in Hugging Face's encoder-decoder classes, Marian's and those after it: their names and their order.

The order is that of the residual stream's dimensions, which a model does not notice. Our sinusoids alternate (sin, cos,
sin, cos), those of Marian and its relatives come in halves (all sin, all cos), with the same frequencies (both are
Vaswani 2017, 3.5, up to the order). If every weight that reads or writes the residual stream has its rows or columns
put in the other order, all activations are the same numbers in that order: layer norms look at the set of numbers
only, residual sums stay sums, and heads, feed-forward layers and logits are never permuted. So the exported model is
exact, up to the order in which sums are rounded, and needs no table of its own: programs that make their sinusoids
anew make the right ones.
"""

import torch
from torch import Tensor

from translator.errors import UserError
from translator.model.config import ModelConfig

BIAS, SHARED = "final_logits_bias", "model.shared.weight"
SOURCE, TARGET, OUTPUT = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"
POSITIONS = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")

_OUTSIDE = {
    "src_embeddings.tokens.weight": SOURCE,
    "tgt_embeddings.tokens.weight": TARGET,
    "src_embeddings.learned.weight": POSITIONS[0],
    "tgt_embeddings.learned.weight": POSITIONS[1],
    "encoder_norm.weight": "model.encoder.layer_norm.weight",
    "encoder_norm.bias": "model.encoder.layer_norm.bias",
    "decoder_norm.weight": "model.decoder.layer_norm.weight",
    "decoder_norm.bias": "model.decoder.layer_norm.bias",
    "output.weight": OUTPUT,
    "output_bias": BIAS,
}
_LAYER_PARTS = {
    "self_attn": "self_attn",
    "cross_attn": "encoder_attn",
    "feed_forward.up": "fc1",
    "feed_forward.down": "fc2",
    "self_residual.norm": "self_attn_layer_norm",
    "cross_residual.norm": "encoder_attn_layer_norm",
    "ff_residual.norm": "final_layer_norm",
}
#: The names of one matrix, by ``tie_embeddings``.
_TIED = {"all": (SHARED, SOURCE, TARGET, OUTPUT), "decoder": (TARGET, OUTPUT), "none": ()}

_READ = (
    "tokens.weight", "learned.weight", "output.weight", "q_proj.weight", "k_proj.weight", "v_proj.weight", "up.weight",
)  # fmt: skip
_WRITTEN = ("out_proj.weight", "out_proj.bias", "down.weight", "down.bias", "norm.weight", "norm.bias")
_INSIDE = ("q_proj.bias", "k_proj.bias", "v_proj.bias", "up.bias")


def their_names(name: str, config: ModelConfig) -> tuple[str, ...]:
    """Our name of a parameter -> all the names under which theirs may stand, the surest first.

    Raises UserError for a parameter that they do not have.
    """
    if name in _OUTSIDE:
        theirs, tied = _OUTSIDE[name], _TIED[config.tie_embeddings]
        return tied if theirs in tied else (theirs,)
    stack, _, place = name.partition(".")
    layer, _, part = place.partition(".")
    for ours, theirs in _LAYER_PARTS.items():
        if part.startswith(f"{ours}."):
            return (f"model.{stack}.layers.{layer}.{theirs}{part.removeprefix(ours)}",)
    raise UserError(f"the parameter {name} has no counterpart in Hugging Face's classes")


def their_order(config: ModelConfig) -> Tensor:
    """Which of our dimensions stands at each of theirs (D,): even ones first, for sinusoids; else all as they are."""
    dimensions = torch.arange(config.d_model)
    return torch.cat((dimensions[0::2], dimensions[1::2])) if config.positions == "sinusoidal" else dimensions


def reordered(name: str, weight: Tensor, order: Tensor) -> Tensor:
    """A copy of the parameter ``name`` with its residual dimension, if it has one, in the given order (D,).

    Raises UserError for a parameter that is not known here, so that its place in the residual stream is not, either.
    """
    if name.endswith(_READ):
        return weight.index_select(1, order)  # (out, D) of a projection, (V, D) of embeddings
    if name.endswith(_WRITTEN):
        return weight.index_select(0, order)  # (D, in), (D,)
    if name.endswith(_INSIDE):
        return weight.clone()
    raise UserError(f"the parameter {name} has no counterpart in other programs, so the model cannot be exported")
