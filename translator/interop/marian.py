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
from translator.interop.layout import BIAS, POSITIONS, SOURCE, their_names
from translator.model.config import ModelConfig, Site
from translator.model.embeddings import sinusoids
from translator.model.transformer import Transformer


def marian_to_ours(state: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Their state dict -> ours, by the names of ``Transformer(config).named_parameters()``; memory is shared.

    Tensors that are tied may stand under any or all of their names, as in a file, which holds them once. Sinusoids are
    left out, since ours are computed. A missing ``final_logits_bias`` is zeros. Raises UserError where the
    configuration is none of a Marian model, or a tensor is missing, left over or of another shape.
    """
    found: dict[str, Tensor] = {}
    state = {BIAS: torch.zeros(1, config.vocab_size), **state}
    passed = {*POSITIONS} if state[BIAS].any() else {*POSITIONS, BIAS}
    for name, shape in _parameters(config).items():
        names = their_names(name, config)
        passed.update(names)
        tensor = _one(state, names)
        found[name] = tensor[0] if names == (BIAS,) else tensor
        if found[name].shape != shape:
            there = tuple(found[name].shape)
            raise UserError(f"{names[0]} has shape {there}; the configuration asks for {tuple(shape)}")
    for their_name in sorted(state.keys() - passed):
        raise UserError(f"no Marian model of this configuration: tensor {their_name} is left over")
    return found


def ours_to_marian(state: Mapping[str, Tensor], config: ModelConfig) -> dict[str, Tensor]:
    """Our parameters -> their state dict in full: tied tensors under all their names, and the sinusoids in a table.

    The table has ``max_positions`` rows and the type of the weights. Raises UserError where the configuration is none
    of a Marian model, or a tensor is missing.
    """
    theirs: dict[str, Tensor] = {}
    for name in _parameters(config):
        theirs |= dict.fromkeys(their_names(name, config), _one(state, (name,)))
    tokens = theirs[SOURCE]
    theirs[BIAS] = theirs[BIAS][None] if BIAS in theirs else tokens.new_zeros(1, config.vocab_size)
    if config.positions == "sinusoidal_halves":
        table = sinusoids(config.max_positions, config.d_model, halves=True).to(tokens)
        theirs |= dict.fromkeys(POSITIONS, table)
    return theirs


def _parameters(config: ModelConfig) -> dict[str, torch.Size]:
    """Names and shapes of our parameters. Raises UserError where Marian has no such model."""
    config.check_translates()
    sites = ("encoder_attention", "decoder_attention", "cross_attention")
    allowed = {
        "norm": ("post",),
        "positions": ("sinusoidal_halves", "learned"),
        "embedding_norm": (False,),
        **dict.fromkeys(sites, (Site(), Site(n_kv_heads=config.n_heads))),
    }
    for name, values in allowed.items():
        if (value := getattr(config, name)) not in values:
            raise UserError(f"Marian's class has no model with {name} {value}")
    with torch.device("meta"):
        return {name: parameter.shape for name, parameter in Transformer(config).named_parameters()}


def _one(state: Mapping[str, Tensor], names: tuple[str, ...]) -> Tensor:
    """The tensor that stands under one or several of these names.

    Raises UserError where there is none, or what should be tied is not.
    """
    present = [name for name in names if name in state]
    if not present:
        raise UserError(f"no Marian model of this configuration: tensor {names[0]} is missing")
    first = state[present[0]]
    for name in present[1:]:
        if state[name] is not first and not torch.equal(first, state[name]):
            raise UserError(f"{present[0]} and {name} differ, but the configuration ties them; see tie_embeddings")
    return first
