"""What other programs can hold: plain multi-head attention everywhere, positions that are added to the embeddings."""

from dataclasses import fields

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


def check_dense(model: Transformer, format_name: str) -> None:
    """Refuse a model of which ``format_name`` could hold only a part.

    Raises:
        UserError: names what has no counterpart there.
    """
    model.config.check_translates()
    found = _sharing_or_window(model.config) or _lost_heads(model) or _unusual(model.config)
    if found:
        raise UserError(
            f"{found} cannot be exported: a {format_name} model holds plain multi-head attention with sinusoidal or "
            "learned positions alone; train one with attention=mha and the options of model=small"
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


def _unusual(config: ModelConfig) -> str | None:
    """The first option that the folders we write do not tell of, in words."""
    if config.positions not in ("sinusoidal", "learned"):
        return f"positions {config.positions}"
    for name, plain in _PLAIN.items():
        if (value := getattr(config, name)) != plain:
            return f"{name} {value}"
    return None


def _lost_heads(model: Transformer) -> str | None:
    """The first attention that has not all of its heads, in words."""
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention) and module.n_heads != model.config.n_heads:
            return f"{name} with {module.n_heads} of {model.config.n_heads} heads"
    return None
