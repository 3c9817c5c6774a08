"""Tokens and positions as vectors."""

import math

import torch
from torch import Tensor, nn

from translator.attention.dropout import Dropout
from translator.errors import UserError
from translator.model.config import ModelConfig


class Embeddings(nn.Module):
    """Token vectors times sqrt(d_model), plus positions, then dropout (Vaswani 2017, 3.4, 3.5 and 5.4).

    Without ``embedding_scale`` the vectors stand as they are; with ``embedding_norm`` the sum is normalised before
    dropout. Rotary positions are not added here: they turn queries and keys inside attention.
    """

    def __init__(self, config: ModelConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens = tokens
        self.scale = math.sqrt(config.d_model) if config.embedding_scale else 1.0
        self.kind, self.max_positions = config.positions, config.max_positions
        self.learned = nn.Embedding(config.max_positions, config.d_model) if config.positions == "learned" else None
        if self.learned is not None:
            nn.init.normal_(self.learned.weight, std=config.d_model**-0.5)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if config.embedding_norm else nn.Identity()
        self.dropout = Dropout(config.dropout)
        # Not a buffer: it grows, and whatever copies or averages buffers expects fixed shapes.
        self._table = torch.empty(0, config.d_model)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Ids (B, T), the first at absolute position ``start`` -> (B, T, D)."""
        return self.embed(ids, self.position_vectors(start, ids.shape[1]))

    def position_vectors(self, start: int, n: int) -> Tensor | None:
        """What is added at n positions from ``start`` on (n, D); None: nothing.

        Raises UserError where learned positions do not reach that far.
        """
        end = start + n
        if self.learned is not None:
            if end > self.max_positions:
                raise UserError(f"the model has {self.max_positions} learned positions; a sequence needs {end}")
            return self.learned.weight[start:end]
        if self.kind in ("sinusoidal", "sinusoidal_halves"):
            return self._sinusoids(end)[start:end]
        return None

    def embed(self, ids: Tensor, position_vectors: Tensor | None) -> Tensor:
        """Ids (B, T) and `position_vectors` (T, D) -> (B, T, D)."""
        x = self.tokens(ids)
        if self.scale != 1.0:
            x = x * self.scale
        if position_vectors is not None:
            x = x + position_vectors
        dropped: Tensor = self.dropout(to_autocast_type(self.norm(x)))
        return dropped

    def _sinusoids(self, length: int) -> Tensor:
        """The table, grown to ``length`` rows: sinusoidal positions have no end."""
        like = self.tokens.weight
        if len(self._table) < length or self._table.dtype != like.dtype or self._table.device != like.device:
            rows = max(length, 2 * len(self._table), 64)
            self._table = sinusoids(rows, like.shape[-1], halves=self.kind == "sinusoidal_halves").to(like)
        return self._table


def to_autocast_type(x: Tensor) -> Tensor:
    """The type in which the residual stream runs: autocast's where that is on, so that no block converts back."""
    device = x.device.type
    return x.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x


def sinusoids(length: int, d_model: int, halves: bool = False) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(same) (Vaswani 2017, 3.5) -> (length, D) float64.

    In ``halves``, as Marian lays it out (Junczys-Dowmunt 2018, 1804.00344), all sines come first, then all cosines.
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * frequency  # (length, ceil(D/2))
    if halves:
        return torch.cat((angle.sin(), angle.cos()), dim=-1)[:, :d_model]
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[:, :d_model]
