"""Decoding steps without Python: recorded once, then replayed.

A step is some hundred small operations. For one sentence, and for a small model even for many, calling them from Python
takes longer than computing them.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from translator.attention.cache import KV
from translator.attention.kernels import prefers_explicit
from translator.attention.multihead import MultiHeadAttention
from translator.model.state import DecoderState
from translator.model.transformer import Transformer

#: Steps taken as they are before one is recorded, which takes about as long: a short job is never the slower for it.
PATIENCE = 200

#: What was decided by the shapes of a step and therefore stands in its recording.
Kind = tuple[bool, bool]


@dataclass
class RecordedStep:
    """`Transformer.step` for a model that will not change any more: weights, gates and listeners are frozen.

    The same operations in the same order, so the same logits. Steps that cannot be recorded (the first, which has no
    past; patterns that keep, choose or leave out; rotary positions; anything but a CPU) go through the model.
    """

    model: Transformer
    patience: int = PATIENCE
    _recordings: dict[Kind, Callable[..., Tensor]] = field(default_factory=dict)
    _seen: dict[Kind, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        attentions = [m for m in self.model.decoder.modules() if isinstance(m, MultiHeadAttention)]
        config = self.model.config
        plain = [config.decoder_attention, config.cross_attention]
        self._possible = (
            config.cross
            and config.positions != "rotary"
            and all(not any(site.pattern().values()) for site in plain)
            and all(m.gates is None and m.on_weights is None and m.n_heads for m in attentions)
            and self.model.impossible.device.type == "cpu"
        )

    def __call__(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """As `Transformer.step`."""
        past = [kv for kv in state.self_kv if kv is not None]
        if not self._possible or not past:
            return self.model.step(last_ids, state)
        kind = self._kind(len(last_ids), past[0], state.cross_kv[0])
        if kind not in self._recordings and self._counted(kind) <= self.patience:
            return self.model.step(last_ids, state)
        x = self.model.tgt_embeddings(last_ids[:, None], start=state.length)  # (B*N, 1, D)
        past = [kv.with_room(1) for kv in past]
        tensors = [state.src_valid, torch.tensor(past[0].stop)]
        tensors += [t for kv in past if kv.room is not None for t in (kv.room.k, kv.room.v)]
        tensors += [t for kv in state.cross_kv for t in (kv.k, kv.v)]
        if kind not in self._recordings:
            self._recordings[kind] = _record(self.model, (x, *tensors))
        logits = self._recordings[kind](x, *tensors)
        grown = tuple(kv.written(1) for kv in past)
        return logits, DecoderState(state.cross_kv, state.src_valid, grown, state.length + 1)

    def _counted(self, kind: Kind) -> int:
        self._seen[kind] = self._seen.get(kind, 0) + 1
        return self._seen[kind]

    def _kind(self, rows: int, past: KV, memory: KV) -> Kind:
        """Which kernels the two attentions of a layer prefer; see `prefers_explicit`."""
        heads = self.model.config.n_heads
        q = past.k.new_empty(1).expand(rows, heads, 1, 1)
        sentences = memory.k.shape[0]
        folded = past.k.new_empty(1).expand(sentences, heads, rows // sentences, 1)
        return prefers_explicit(q, past.k), prefers_explicit(folded, memory.k)


class _Layers(nn.Module):
    """What of a step is recorded: everything between the embedded token and the logits."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, src_valid: Tensor, used: Tensor, *tensors: Tensor) -> Tensor:
        """X (B*N, 1, D) and, a layer, the room of its cache, filled up to ``used``, then keys and values of the memory.

        Writes the new column into the room. Returns logits (B*N, V).
        """
        pairs = list(zip(tensors[::2], tensors[1::2], strict=True))
        layers = list(self.model.decoder)
        for layer, own, memory in zip(layers, pairs[: len(layers)], pairs[len(layers) :], strict=True):
            cache = KV.of_room(*own, used)  # type: ignore[arg-type]  # as a tensor a number is no constant of the recording
            x, _ = layer(x, cache, KV(*memory), src_valid)
        return self.model.logits(self.model.decoder_norm(x)[:, 0])


def _record(model: Transformer, example: tuple[Tensor, ...]) -> Callable[..., Tensor]:
    """A step's operations, whatever the number of rows and columns."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of decisions that are recorded: `Kind` has them; of the recorder's age
        traced = torch.jit.trace(_Layers(model).eval(), example, check_trace=False)
        frozen: Callable[..., Tensor] = torch.jit.freeze(traced)
    return frozen
