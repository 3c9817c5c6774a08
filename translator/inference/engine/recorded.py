"""Searches without Python: the encoder and the decoding step, recorded once, then replayed.

A step is some hundred small operations. For one sentence, and for a small model even for many, calling them from Python
takes longer than computing them.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from translator.attention.cache import KV, SPARE_COLUMNS
from translator.attention.kernels import logarithm, many_short
from translator.attention.multihead import CausalSelfAttention, MultiHeadAttention
from translator.model.transformer import Transformer

#: Calls of one kind that are taken as they are before one is recorded, which takes about as long: a short job is never
#: the slower for it.
PATIENCE = 200

_TO_THE_END = 2**63 - 1  # what stands for it in a recorded slice

#: A recording: tensors in, tensors out.
Replay = Callable[..., tuple[Tensor, ...]]


class _Rooms:
    """What `KV` has of room, for all layers at once: keys and values (2, R, G, C, Dh) of each.

    The first ``used`` columns belong to some `Searched`.
    """

    def __init__(self, layers: tuple[Tensor, ...], used: int) -> None:
        self.layers, self.used = layers, used

    def after(self, end: int) -> "_Rooms":
        """Where a column can be written after the first ``end``: here, unless it is somebody's or there is no room."""
        if end == self.used and end < self.layers[0].shape[3]:
            return self
        grown = self._larger(self.layers[0].shape[1], end)
        for kv, new in zip(self.layers, grown, strict=True):
            new[:, :, :, :end] = kv[:, :, :, :end]
        return _Rooms(grown, end)

    def select(self, rows: Tensor, end: int) -> "_Rooms":
        """Other rows (R2,) of the first ``end`` columns, with room for one more."""
        if end < self.layers[0].shape[3]:
            return _Rooms(tuple(kv.index_select(1, rows) for kv in self.layers), end)
        grown = self._larger(len(rows), end)
        for kv, new in zip(self.layers, grown, strict=True):
            torch.index_select(kv, 1, rows, out=new[:, :, :, :end])
        return _Rooms(grown, end)

    def _larger(self, n_rows: int, end: int) -> tuple[Tensor, ...]:
        """Memory for so many rows of ``end`` columns, and spare ones."""
        return tuple(kv.new_empty(2, n_rows, kv.shape[2], end + SPARE_COLUMNS, kv.shape[4]) for kv in self.layers)


@dataclass(frozen=True)
class Searched:
    """What `DecoderState` is, as recordings read it: of each layer, keys and values in one tensor.

    ``memory`` (2, B, G, S, Dh) a layer; ``visible`` (B, S), the logarithm of what is valid; ``room`` with the first
    ``length`` columns of the cache.
    """

    memory: tuple[Tensor, ...]
    visible: Tensor
    room: _Rooms
    length: int = 0

    def select(self, rows: Tensor) -> "Searched":
        """As `DecoderState.select`."""
        flat = rows.flatten()
        room = self.room.select(flat, self.length)
        if len(rows) == len(self.visible):
            return replace(self, room=room)
        sentences = rows[:, 0] // (self.room.layers[0].shape[1] // len(self.visible))
        memory = tuple(kv.index_select(1, sentences) for kv in self.memory)
        return Searched(memory, self.visible.index_select(0, sentences), room, self.length)


class Recorded:
    """`Transformer.start` and `.step` for a model that will not change: weights, gates and listeners are frozen.

    The same operations in the same order, so the same logits.
    """

    def __init__(self, model: Transformer, patience: int = PATIENCE) -> None:
        self.model, self.patience = model, patience
        self._encoder, self._layers = _Encoder(model), _Step(model)
        self._recordings: dict[Hashable, Replay] = {}
        self._seen: Counter[Hashable] = Counter()
        attentions = [m for m in model.decoder.modules() if isinstance(m, CausalSelfAttention)]
        self._sizes = [(attention.n_kv_heads, attention.head_dim) for attention in attentions]

    def start(self, src_ids: Tensor, src_valid: Tensor) -> Searched:
        """As `Transformer.start`."""
        rows, length = src_ids.shape
        n_heads, dtype = self.model.config.n_heads, self.model.output.weight.dtype
        places = self.model.src_embeddings.position_vectors(0, length)
        kind = ("start", many_short(rows * n_heads, length, length, dtype))
        visible, *memory = self._run(kind, self._encoder, src_ids, places, src_valid)
        layers = tuple(memory[0].new_empty(2, rows, heads, SPARE_COLUMNS, size) for heads, size in self._sizes)
        return Searched(tuple(memory), visible, _Rooms(layers, 0))

    def step(self, last_ids: Tensor, state: Searched) -> tuple[Tensor, Searched]:
        """As `Transformer.step`."""
        n_rows, (n_sentences, source), end = len(last_ids), state.visible.shape, state.length
        n_heads, dtype = self.model.config.n_heads, state.visible.dtype
        room = state.room.after(end)
        kind = (
            many_short(n_rows * n_heads, 1, end + 1, dtype),
            many_short(n_sentences * n_heads, n_rows // n_sentences, source, dtype),
        )
        places = self.model.tgt_embeddings.position_vectors(end, 1)
        tensors = (last_ids, places, state.visible, torch.tensor(end), *room.layers, *state.memory)
        (logits,) = self._run(kind, self._layers, *tensors)
        room.used = end + 1
        return logits, Searched(state.memory, state.visible, room, end + 1)

    def _run(self, kind: Hashable, module: nn.Module, *tensors: Tensor | None) -> tuple[Tensor, ...]:
        """What the module makes of the tensors, by its recording of this kind as soon as that pays.

        The kind says what is decided by shapes and so stands in the recording: which kernels attention prefers.
        """
        recording = self._recordings.get(kind)
        if recording is None:
            self._seen[kind] += 1
            if self._seen[kind] <= self.patience:
                as_it_is: tuple[Tensor, ...] = module(*tensors)
                return as_it_is
            recording = self._recordings[kind] = _record(module, tensors)
        return recording(*tensors)


def recorded(model: Transformer, patience: int = PATIENCE) -> Recorded | Transformer:
    """The model's searches recorded; the model itself where that cannot be.

    It cannot where a pattern keeps, chooses or leaves out, with rotary positions, without a memory, and anywhere but
    on a CPU.
    """
    config = model.config
    sites = (config.encoder_attention, config.decoder_attention, config.cross_attention)
    attentions = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
    possible = (
        config.has_source
        and config.cross
        and config.positions != "rotary"
        and not any(any(site.pattern().values()) for site in sites)
        and all(m.gates is None and m.on_weights is None and m.n_heads for m in attentions)
        and model.excluded_ids.device.type == "cpu"
    )
    return Recorded(model, patience) if possible else model


@dataclass(frozen=True)
class _Filling(KV):
    """A past whose k and v have room; tensors of one number say how many columns are used, before and after a step."""

    used: Any = None
    after: Any = None

    @property
    def end(self) -> Any:
        """The position after the last column in use."""
        return self.used

    def append(self, k: Tensor, v: Tensor) -> KV:
        """Write the new column (R, G, 1, Dh) where the spare ones begin -> the columns in use."""
        self.k[:, :, self.used : self.after], self.v[:, :, self.used : self.after] = k, v
        return KV(self.k[:, :, : self.after], self.v[:, :, : self.after])


class _Encoder(nn.Module):
    """What of `start` is recorded."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, src_ids: Tensor, places: Tensor, src_valid: Tensor) -> tuple[Tensor, ...]:
        """Source ids (B, S) at places (S, D), validity (B, S) -> its logarithm, and keys and values for each layer."""
        visible = logarithm(src_valid, places.dtype)
        memory = self.model.encode_embedded(self.model.src_embeddings.embed(src_ids, places), visible)
        pairs = self.model.start_from(memory, visible).cross_kv
        return (visible, *(torch.stack((kv.k, kv.v)) for kv in pairs))  # one after another, as products read them


class _Step(nn.Module):
    """What of `step` is recorded."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, last_ids: Tensor, places: Tensor, visible: Tensor, used: Any, *layers: Tensor
    ) -> tuple[Tensor, ...]:
        """Ids (B*N,) at places (1, D), and, a layer, the room of its cache, and then the memory.

        ``used``, a tensor of one number, tells how many columns of the rooms are filled; the new one is written after
        them. Returns logits (B*N, V).
        """
        x = self.model.tgt_embeddings.embed(last_ids[:, None], places)  # (B*N, 1, D)
        decoder = list(self.model.decoder)
        after = used + 1
        for layer, own, memory in zip(decoder, layers[: len(decoder)], layers[len(decoder) :], strict=True):
            x, _ = layer(x, _Filling(own[0], own[1], used=used, after=after), KV(memory[0], memory[1]), visible)
        return (self.model.logits(self.model.decoder_norm(x)[:, 0]),)


def _record(module: nn.Module, example: tuple[Tensor | None, ...]) -> Replay:
    """A module's operations, whatever the number of rows and columns."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of decisions that are recorded, see `Recorded._run`; of the recorder's age
        traced = torch.jit.trace(module.eval(), example, check_trace=False)
        frozen = torch.jit.freeze(traced)
    _drop_idle_slices(frozen.graph)
    replay: Replay = frozen
    return replay


def _drop_idle_slices(graph: Any) -> None:
    """Take out slices that keep all: the recorder writes one for every ``:``, a quarter of what a step consists of."""
    for node in graph.findAllNodes("aten::slice"):
        whole, _, start, stop, stride = node.inputs()
        if start.toIValue() in (0, None) and stop.toIValue() == _TO_THE_END and stride.toIValue() == 1:
            node.output().replaceAllUsesWith(whole)
            node.destroy()
