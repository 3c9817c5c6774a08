"""Marian's weights under our names, and ours under theirs: state dicts of Hugging Face's ``MarianMTModel``.

The two models are the same function (Junczys-Dowmunt 2018, 1804.00344) if our configuration says what theirs says:

    norm="post"    positions="sinusoidal_halves"    output_bias=True    embedding_scale: their scale_embedding
    activation: their activation_function, of which "swish" is our "silu" and "gelu_new" our "gelu_tanh"
    tie_embeddings: "all" if they share the embeddings of encoder and decoder, which then are the output's, too; else
    "decoder" if they tie word embeddings, "none" if not
    bos_id: their decoder_start_token_id, which in the released models is the padding piece

Nothing of their library is needed: names and shapes alone are dealt with here.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from translator.errors import UserError
from translator.interop.names import LAYER_PARTS
from translator.model.config import ModelConfig, Site
from translator.model.embeddings import sinusoids
from translator.model.transformer import Transformer

BIAS, SHARED = "final_logits_bias", "model.shared.weight"
SOURCE, TARGET, OUTPUT = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"
_STACKS = {"encoder": "model.encoder", "decoder": "model.decoder"}
_SITES = ("encoder_attention", "decoder_attention", "cross_attention")


def marian_to_ours(state: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Their state dict -> ours, by the names of ``Transformer(config).named_parameters()``; memory is shared.

    Tensors that are tied may stand under any or all of their names, as in a file, which holds them once. Sinusoids are
    left out, since ours are computed. A missing ``final_logits_bias`` is zeros.

    Raises:
        UserError: the configuration is none of a Marian model, or a tensor is missing, left over or of another shape.
    """
    found: dict[str, Tensor] = {}
    passed = {_positions(stack) for stack in _STACKS}
    if not config.output_bias and not state.get(BIAS, torch.zeros(1)).any():
        passed.add(BIAS)
    for name, shape in _parameters(config).items():
        names = _theirs(name, config)
        passed.update(names)
        tensor = torch.zeros(1, *shape) if names == (BIAS,) and BIAS not in state else _one(state, names)
        tensor = tensor[0] if names == (BIAS,) else tensor
        if tensor.shape != shape:
            raise UserError(f"{names[0]} has shape {tuple(tensor.shape)}; the configuration asks for {tuple(shape)}")
        found[name] = tensor
    for their_name in sorted(state.keys() - passed):
        raise UserError(f"no Marian model of this configuration: tensor {their_name} is left over")
    return found


def ours_to_marian(state: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Our parameters -> their state dict in full: tied tensors under all their names, and the sinusoids in a table.

    The table has ``max_positions`` rows and the type of the weights.

    Raises:
        UserError: the configuration is none of a Marian model, or a tensor is missing.
    """
    theirs: dict[str, Tensor] = {}
    for name in _parameters(config):
        tensor = _one(state, (name,))
        for their_name in _theirs(name, config):
            theirs[their_name] = tensor[None] if their_name == BIAS else tensor
    tokens = theirs[SOURCE]
    theirs.setdefault(BIAS, tokens.new_zeros(1, config.vocab_size))
    if config.positions == "sinusoidal_halves":
        table = sinusoids(config.max_positions, config.d_model, halves=True).to(tokens)
        theirs |= {_positions(stack): table for stack in _STACKS}
    return theirs


def _parameters(config: ModelConfig) -> dict[str, torch.Size]:
    """Names and shapes of our parameters.

    Raises:
        UserError: Marian has no such model.
    """
    config.check_translates()
    allowed = {
        "norm": ("post",),
        "positions": ("sinusoidal_halves", "learned"),
        "embedding_norm": (False,),
        **dict.fromkeys(_SITES, (Site(), Site(n_kv_heads=config.n_heads))),
    }
    for name, values in allowed.items():
        if (value := getattr(config, name)) not in values:
            raise UserError(f"Marian's class has no model with {name} {value}")
    with torch.device("meta"):
        return {name: parameter.shape for name, parameter in Transformer(config).named_parameters()}


def _one(state: Mapping[str, Tensor], names: tuple[str, ...]) -> Tensor:
    """The tensor that stands under one or several of these names.

    Raises:
        UserError: there is none, or what should be tied is not.
    """
    present = [name for name in names if name in state]
    if not present:
        raise UserError(f"no Marian model of this configuration: tensor {names[0]} is missing")
    first, *others = (state[name] for name in present)
    for name, other in zip(present[1:], others, strict=True):
        if other is not first and not torch.equal(first, other):
            raise UserError(f"{present[0]} and {name} differ, but the configuration ties them; see tie_embeddings")
    return first


def _theirs(name: str, config: ModelConfig) -> tuple[str, ...]:
    """Our name of a parameter -> all the names under which theirs may stand, the surest first."""
    if name == "output_bias":
        return (BIAS,)
    stack, _, place = name.partition(".")
    if name.endswith("tokens.weight") or stack == "output":
        return _embeddings(stack, config)
    if place == "learned.weight":
        return (_positions("encoder" if stack.startswith("src") else "decoder"),)
    layer, _, part = place.partition(".")
    for ours, theirs in LAYER_PARTS.items():
        if part.startswith(f"{ours}."):
            return (f"{_STACKS[stack]}.layers.{layer}.{theirs}{part.removeprefix(ours)}",)
    raise UserError(f"the parameter {name} has no counterpart in Marian's class")


def _embeddings(part: str, config: ModelConfig) -> tuple[str, ...]:
    """The names of one matrix of embeddings, by our part and what shares it."""
    if config.tie_embeddings == "all":
        return (SHARED, SOURCE, TARGET, OUTPUT)
    if part == "src_embeddings":
        return (SOURCE,)
    if part == "output":
        return (OUTPUT,)
    return (TARGET, OUTPUT) if config.tie_embeddings == "decoder" else (TARGET,)


def _positions(stack: str) -> str:
    return f"{_STACKS[stack]}.embed_positions.weight"
