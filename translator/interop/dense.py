"""What other programs can hold: plain multi-head attention everywhere, positions that are added to the embeddings."""

from dataclasses import replace

import torch

from translator.attention.multihead import MultiHeadAttention
from translator.errors import UserError
from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

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

    Raises:
        UserError: names what has no counterpart in ``format_name``.
    """
    model.config.check_translates()
    found = _pattern(model.config) or _unusual(model.config)
    if found:
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


def _pattern(config: ModelConfig) -> str | None:
    """The first setting of an attention site that leaves keys out, in words."""
    for name in _SITES:
        for setting, value in getattr(config, name).pattern().items():
            if value is not None:
                return f"{name} with {setting} {value}"
    return None


def _unusual(config: ModelConfig) -> str | None:
    """The first option that the folders we write do not tell of, in words."""
    if config.positions not in ("sinusoidal", "learned"):
        return f"positions {config.positions}"
    for name, plain in _PLAIN.items():
        if (value := getattr(config, name)) != plain:
            return f"{name} {value}"
    return None


@torch.no_grad()
def _fill(attention: MultiHeadAttention, source: MultiHeadAttention) -> None:
    """Give each head the weights of the source's head of its number; a head that was removed adds zeros."""
    size = attention.head_dim
    for linear in (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj):
        linear.weight.zero_()
        linear.bias.zero_()
    attention.out_proj.bias.copy_(source.out_proj.bias)
    for place, head in enumerate(source.kept):
        to, query = slice(head * size, (head + 1) * size), slice(place * size, (place + 1) * size)
        group = int(source.head_to_kv[place])
        shared = slice(group * size, (group + 1) * size)
        for name, rows in (("q_proj", query), ("k_proj", shared), ("v_proj", shared)):
            mine, theirs = getattr(attention, name), getattr(source, name)
            mine.weight[to].copy_(theirs.weight[rows])
            mine.bias[to].copy_(theirs.bias[rows])
        attention.out_proj.weight[:, to].copy_(source.out_proj.weight[:, query])
