"""Decoding as it would be without a cache: what the cache is measured against. No part of translating."""

from dataclasses import dataclass

import torch
from torch import Tensor

from translator.model.transformer import Transformer


@dataclass(frozen=True)
class Prefixes:
    """All that is kept between steps: memory (B, S, D), src_valid (B, S), and the ids read so far (B*N, T)."""

    memory: Tensor
    src_valid: Tensor
    ids: Tensor

    def select(self, rows: Tensor) -> "Prefixes":
        """Go on with rows (B2, N2), as `DecoderState.select` does."""
        ids = self.ids.index_select(0, rows.flatten())
        if len(rows) == len(self.memory):
            return Prefixes(self.memory, self.src_valid, ids)
        sentences = rows[:, 0] // (len(self.ids) // len(self.memory))
        return Prefixes(self.memory.index_select(0, sentences), self.src_valid.index_select(0, sentences), ids)


class UncachedTransformer(Transformer):
    """Each step reads the whole prefix anew; of the source it keeps the memory alone, no keys and values.

    Searches see the same two functions as of the model itself, over another kind of state.
    """

    @classmethod
    def of(cls, model: Transformer) -> "UncachedTransformer":
        """A twin with the same weights, in evaluation mode, on the same device and of the same type."""
        some = next(model.parameters())
        twin = cls(model.config)
        twin.load_state_dict(model.state_dict())
        return twin.to(device=some.device, dtype=some.dtype).eval()

    def start(self, src_ids: Tensor, src_valid: Tensor) -> Prefixes:  # type: ignore[override]
        """Source ids (B, S) -> the state before the first target token, one row a sentence."""
        return Prefixes(self.encode(src_ids, src_valid), src_valid, src_ids[:, :0])

    def step(self, last_ids: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:  # type: ignore[override]
        """The newest token of every row (B*N,) -> log-probabilities (B*N, V) in float32, and the longer prefixes."""
        ids = torch.cat((state.ids, last_ids[:, None]), dim=1)  # (B*N, T)
        hidden = self.decode(ids, state.memory, state.src_valid)
        return self.logits(hidden[:, -1]), Prefixes(state.memory, state.src_valid, ids)
