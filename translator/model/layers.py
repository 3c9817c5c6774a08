"""The blocks of the two stacks (Vaswani 2017, figure 1)."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from translator.attention.cache import KV
from translator.attention.dropout import Dropout
from translator.attention.multihead import CausalSelfAttention, CrossAttention, SelfAttention
from translator.model.config import ModelConfig, Site
from translator.model.embeddings import to_autocast_type

#: What stands between the two matrices of the feed-forward network.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,  # max(0, x) (Vaswani 2017, equation 2)
    "gelu": F.gelu,  # x Phi(x), exact (Hendrycks 2016, 1606.08415, 2), as in BERT
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # its approximation by tanh (same place), as in GPT-2
    "silu": F.silu,  # x sigmoid(x) (Elfwing 2017, 1702.03118); Marian calls it swish (Ramachandran 2017, 1710.05941)
}


class FeedForward(nn.Module):
    """FFN(x) = f(x W_1 + b_1) W_2 + b_2 with f one of `ACTIVATIONS` (Vaswani 2017, equation 2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.activate = ACTIVATIONS[config.activation]
        self.up = nn.Linear(config.d_model, config.d_ff)
        self.down = nn.Linear(config.d_ff, config.d_model)
        self.dropout = Dropout(config.activation_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """X (B, T, D) -> (B, T, D)."""
        out: Tensor = self.down(self.dropout(self.activate(self.up(x))))
        return out


class Residual(nn.Module):
    """The wrapping of a sublayer: normalisation, dropout and the residual connection.

    Post-norm is the paper's: LayerNorm(x + Dropout(f(x))) (Vaswani 2017, 3.1 and 5.4). Pre-norm, the default,
    departs from it: x + Dropout(f(LayerNorm(x))) (Xiong 2020, 2002.04745), which trains without a delicate warm-up.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)
        self.pre = config.norm == "pre"

    def before(self, x: Tensor) -> Tensor:
        """What the sublayer sees; under autocast it is narrowed here once, not by each of its projections."""
        return to_autocast_type(self.norm(x) if self.pre else x)

    def after(self, x: Tensor, out: Tensor) -> Tensor:
        """The sublayer's output joined with its input."""
        y: Tensor = x + self.dropout(out)
        return y if self.pre else self.norm(y)


class EncoderLayer(nn.Module):
    """Self-attention over the source, then the feed-forward network."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attn = SelfAttention(**_sizes(config, config.encoder_attention), rotary=config.positions == "rotary")
        self.feed_forward = FeedForward(config)
        self.self_residual, self.ff_residual = Residual(config), Residual(config)

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        """X (B, S, D), valid (B, S) -> (B, S, D)."""
        x = self.self_residual.after(x, self.self_attn(self.self_residual.before(x), valid))
        out: Tensor = self.ff_residual.after(x, self.feed_forward(self.ff_residual.before(x)))
        return out


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention over the memory, then the feed-forward network.

    Where the configuration says ``cross`` false there is no cross-attention and no memory: GPT's block (Radford 2018).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.cross, rotary = config.cross, config.positions == "rotary"
        self.self_attn = CausalSelfAttention(**_sizes(config, config.decoder_attention), rotary=rotary)
        if self.cross:
            self.cross_attn = CrossAttention(**_sizes(config, config.cross_attention), memory_dim=config.memory_dim)
        self.feed_forward = FeedForward(config)
        self.self_residual = Residual(config)
        if self.cross:
            self.cross_residual = Residual(config)
        self.ff_residual = Residual(config)

    def forward(self, x: Tensor, past: KV | None, memory: KV | None, valid: Tensor) -> tuple[Tensor, KV]:
        """X (B*N, T, D) after ``past``, over memory (B, G, S, Dh), valid (B, S) -> (B*N, T, D) and the grown cache."""
        out, cache = self.self_attn(self.self_residual.before(x), past)
        x = self.self_residual.after(x, out)
        if self.cross:
            assert memory is not None, "a decoder with cross-attention needs a memory: begin with start or start_from"
            x = self.cross_residual.after(x, self.cross_attn(self.cross_residual.before(x), memory, valid))
        x = self.ff_residual.after(x, self.feed_forward(self.ff_residual.before(x)))
        return x, cache


def _sizes(config: ModelConfig, site: Site) -> dict[str, Any]:
    """What the attention of one place takes, whatever its kind."""
    sizes = {"d_model": config.d_model, "n_heads": config.n_heads, "dropout": config.attention_dropout}
    return sizes | asdict(site)
