"""``torch.nn.Transformer`` in a plain loop: tied embeddings, sinusoidal positions, the library's own attention."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.peers.common import Job, plain_update, time_training

LONGEST = 1024


class PlainTransformer(nn.Module):
    """Embeddings, the library's stacks, and the embeddings again as output."""

    positions: Tensor

    def __init__(self, sizes: Job, vocab_size: int) -> None:
        super().__init__()
        width = sizes["d_model"]
        self.tokens = nn.Embedding(vocab_size, width)
        nn.init.normal_(self.tokens.weight, std=width**-0.5)
        self.dropout = nn.Dropout(sizes["dropout"])
        self.transformer = nn.Transformer(
            width, sizes["n_heads"], sizes["n_encoder_layers"], sizes["n_decoder_layers"], sizes["d_ff"],
            sizes["dropout"], batch_first=True, norm_first=sizes["norm"] == "pre",
        )  # fmt: skip
        self.register_buffer("positions", sinusoids(LONGEST, width))
        for module in self.modules():  # the library's one dropout also goes where our default has none
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = sizes["attention_dropout"]
            if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = sizes["activation_dropout"]

    def embed(self, ids: Tensor) -> Tensor:
        """Ids (B, T) -> (B, T, D)."""
        x = self.tokens(ids) * math.sqrt(self.tokens.embedding_dim) + self.positions[: ids.shape[1]]
        embedded: Tensor = self.dropout(x)
        return embedded

    def forward(self, batch: Any) -> Tensor:
        """A batch -> logits (B, T, V)."""
        causal = nn.Transformer.generate_square_subsequent_mask(batch.tgt_in.shape[1])
        hidden: Tensor = self.transformer(
            self.embed(batch.src_ids), self.embed(batch.tgt_in), tgt_mask=causal, tgt_is_causal=True,
            src_key_padding_mask=~batch.src_valid, memory_key_padding_mask=~batch.src_valid,
        )  # fmt: skip
        return hidden @ self.tokens.weight.t()


def sinusoids(length: int, width: int) -> Tensor:
    """Positions (Vaswani 2017, 3.5) -> (length, width)."""
    angle = torch.arange(length)[:, None] * 10_000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


def build(job: Job, ids: dict[str, int]) -> Callable[[Any], float]:
    """The model in training mode and its update."""
    model = PlainTransformer(job["model"], ids["vocab_size"]).train()
    return plain_update(model, model, job["precision"])


if __name__ == "__main__":
    time_training(build, ["torch"])
