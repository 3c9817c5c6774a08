"""What other programs can hold: plain multi-head attention everywhere, positions that are added to the embeddings."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from translator.attention.multihead import MultiHeadAttention
from translator.errors import UserError
from translator.model.config import ModelConfig, Site
from translator.model.embeddings import Embeddings, sinusoids
from translator.model.transformer import Transformer

#: Rows of sinusoids that are written at least. Ours have no end; this covers what the search may produce of the
#: longest source that is translated whole (2 * 512 + 10), twice over.
ROWS = 2048

#: Options that stay at what every model trained from conf/model has.
_PLAIN = {
    "activation": "relu",
    "norm_epsilon": 1e-5,
    "embedding_norm": False,
    "embedding_scale": True,
    "output_bias": False,
    "cross": True,
    "memory_dim": None,
}
_SITES = ("encoder_attention", "decoder_attention", "cross_attention")


def dense(model: Transformer, format_name: str) -> Transformer:
    """The same function with every head of its own: shared keys and values are repeated, removed heads add zeros.

    Raises UserError, which names what has no counterpart in ``format_name``.
    """
    model.config.check_translates()
    for found in _foreign(model.config):
        raise UserError(
            f"{found} cannot be exported: a {format_name} model holds plain multi-head attention with sinusoidal or "
            "learned positions alone; train one with attention=mha and the options of model=small"
        )
    own = Site()
    config = replace(model.config, pruned_heads={}, encoder_attention=own, decoder_attention=own, cross_attention=own)
    whole = Transformer(config).to(model.output.weight)
    others = {name: value for name, value in model.state_dict().items() if "_attn." not in name}
    whole.load_state_dict(others, strict=False)
    sources = dict(model.named_modules())
    for name, module in whole.named_modules():
        if isinstance(module, MultiHeadAttention):
            source = sources[name]
            assert isinstance(source, MultiHeadAttention)
            _fill(module, source)
    return whole.train(model.training)


def position_table(embeddings: Embeddings) -> Tensor:
    """What is added at each position -> (rows, D) float32: the learned vectors, or `ROWS` sinusoids and more."""
    if embeddings.learned is not None:
        return embeddings.learned.weight.detach().float()
    return sinusoids(max(embeddings.max_positions, ROWS), embeddings.tokens.weight.shape[1]).float()


def _foreign(config: ModelConfig) -> Iterator[str]:
    """Settings that leave keys out of attention, and options that the folders we write do not tell of, in words."""
    for name in _SITES:
        for setting, value in getattr(config, name).pattern().items():
            if value is not None:
                yield f"{name} with {setting} {value}"
    if config.positions not in ("sinusoidal", "learned"):
        yield f"positions {config.positions}"
    for name, plain in _PLAIN.items():
        if (value := getattr(config, name)) != plain:
            yield f"{name} {value}"


@torch.no_grad()
def _fill(attention: MultiHeadAttention, source: MultiHeadAttention) -> None:
    """Give each head the weights of the source's head of its number; a head that was removed adds zeros."""
    for parameter in attention.parameters():
        parameter.zero_()
    columns = torch.arange(attention.head_dim)
    features, shared = (
        (torch.as_tensor(heads, dtype=torch.long).cpu()[:, None] * attention.head_dim + columns).flatten()
        for heads in (source.kept, source.head_to_kv)
    )
    attention.q_proj.weight[features], attention.q_proj.bias[features] = source.q_proj.weight, source.q_proj.bias
    for mine, theirs in ((attention.k_proj, source.k_proj), (attention.v_proj, source.v_proj)):
        mine.weight[features], mine.bias[features] = theirs.weight[shared], theirs.bias[shared]
    attention.out_proj.weight[:, features] = source.out_proj.weight
    attention.out_proj.bias.copy_(source.out_proj.bias)
