"""What other programs can hold: plain multi-head attention everywhere, positions that are added to the embeddings."""

from dataclasses import fields

from translator.attention.multihead import MultiHeadAttention
from translator.errors import UserError
from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

_SITES = ("encoder_attention", "decoder_attention", "cross_attention")


def check_dense(model: Transformer, format_name: str) -> None:
    """Refuse a model of which ``format_name`` could hold only a part.

    Raises:
        UserError: names what has no counterpart there.
    """
    found = _sharing_or_window(model.config) or _lost_heads(model)
    if model.config.positions == "rotary":
        found = "rotary positions"
    if found:
        raise UserError(
            f"{found} cannot be exported: a {format_name} model holds plain multi-head attention with sinusoidal or "
            "learned positions alone; train one with attention=mha model.positions=sinusoidal"
        )


def _sharing_or_window(config: ModelConfig) -> str | None:
    """The first setting of an attention site that is not the plain one, in words."""
    for name in _SITES:
        site = getattr(config, name)
        for setting in fields(Site):
            value, plain = getattr(site, setting.name), setting.default
            if value != plain and (setting.name, value) != ("n_kv_heads", config.n_heads):
                return f"{name} with {setting.name} {value}"
    return None


def _lost_heads(model: Transformer) -> str | None:
    """The first attention that has not all of its heads, in words."""
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention) and module.n_heads != model.config.n_heads:
            return f"{name} with {module.n_heads} of {model.config.n_heads} heads"
    return None
