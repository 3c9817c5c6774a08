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
from translator.attention.heads import attentions
from translator.attention.kernels import logarithm, many_short
from translator.attention.multihead import CausalSelfAttention
from translator.decoding.interface import Searchable
from translator.inference.engine.private_torch import drop_whole_slices
from translator.model.transformer import Transformer

#: Calls of one kind that are taken as they are before one is recorded, which takes about as long: a short job is never
#: the slower for it.
PATIENCE = 200


class _Buffers:
    """The buffers of `KV` for all layers at once: keys and values (2, R, G, C, Dh) of each, with capacity to grow.

    The first ``used`` of C columns belong to some `Searched`.
    """

    def __init__(self, layers: tuple[Tensor, ...], used: int) -> None:
        self.layers, self.used = layers, used

    def to_append(self, end: int) -> "_Buffers":
        """Where column ``end`` can be written: here, unless it has been written already or there is none."""
        if end == self.used and end < self.layers[0].shape[3]:
            return self
        return self._grown(self.layers[0].shape[1], end, lambda kv, new: new.copy_(kv[:, :, :, :end]))

    def select(self, rows: Tensor, end: int) -> "_Buffers":
        """Other rows (R2,) of the first ``end`` columns, with capacity for one more."""
        if end < self.layers[0].shape[3]:
            return _Buffers(tuple(kv.index_select(1, rows) for kv in self.layers), end)
        return self._grown(len(rows), end, lambda kv, new: torch.index_select(kv, 1, rows, out=new))

    def _grown(self, n_rows: int, end: int, copy: Callable[[Tensor, Tensor], Tensor]) -> "_Buffers":
        """New buffers of so many rows, the first ``end`` columns filled by ``copy(old, new)``, with spare ones."""
        layers = tuple(kv.new_empty(2, n_rows, kv.shape[2], end + SPARE_COLUMNS, kv.shape[4]) for kv in self.layers)
        for kv, new in zip(self.layers, layers, strict=True):
            copy(kv, new[:, :, :, :end])
        return _Buffers(layers, end)


@dataclass(frozen=True)
class Searched:
    """What `DecoderState` is, as recordings read it: of each layer, keys and values in one tensor.

    ``memory`` (2, B, G, S, Dh) per layer; ``visible`` (B, S), the logarithm of what is valid; the cache is the first
    ``length`` columns of ``buffers``.
    """

    memory: tuple[Tensor, ...]
    visible: Tensor
    buffers: _Buffers
    length: int = 0

    def select(self, rows: Tensor) -> "Searched":
        """As `DecoderState.select`."""
        buffers = self.buffers.select(rows.flatten(), self.length)
        if len(rows) == len(self.visible):
            return replace(self, buffers=buffers)
        sentences = rows[:, 0] // (self.buffers.layers[0].shape[1] // len(self.visible))
        memory = tuple(kv.index_select(1, sentences) for kv in self.memory)
        return Searched(memory, self.visible.index_select(0, sentences), buffers, self.length)


class Recorded:
    """`Transformer.start` and `.step` for a model that will not change: weights, gates and listeners are frozen.

    The same operations in the same order, so the same logits.
    """

    def __init__(self, model: Transformer, patience: int = PATIENCE) -> None:
        self.model, self.patience = model, patience
        self._encoder, self._step = _Encoder(model), _Step(model)
        self._n_heads, self._dtype = model.config.n_heads, model.output.weight.dtype
        self._recordings: dict[Hashable, nn.Module] = {}
        self._seen: Counter[Hashable] = Counter()
        self._sizes = [(m.n_kv_heads, m.head_dim) for m in model.modules() if isinstance(m, CausalSelfAttention)]

    def start(self, src_ids: Tensor, src_valid: Tensor) -> Searched:
        """As `Transformer.start`."""
        rows, length = src_ids.shape
        positions = self.model.src_embeddings.position_vectors(0, length)
        kind = ("start", many_short(rows * self._n_heads, length, length, self._dtype))
        visible, *memory = self._run(kind, self._encoder, src_ids, positions, src_valid)
        layers = tuple(memory[0].new_empty(2, rows, heads, SPARE_COLUMNS, size) for heads, size in self._sizes)
        return Searched(tuple(memory), visible, _Buffers(layers, 0))

    def step(self, last_ids: Tensor, state: Searched) -> tuple[Tensor, Searched]:
        """As `Transformer.step`."""
        n_rows, (n_sentences, source), end = len(last_ids), state.visible.shape, state.length
        buffers = state.buffers.to_append(end)
        own = many_short(n_rows * self._n_heads, 1, end + 1, self._dtype)
        cross = many_short(n_sentences * self._n_heads, n_rows // n_sentences, source, self._dtype)
        positions = self.model.tgt_embeddings.position_vectors(end, 1)
        tensors = (last_ids, positions, state.visible, torch.tensor(end), *buffers.layers, *state.memory)
        (logits,) = self._run((own, cross), self._step, *tensors)
        buffers.used = end + 1
        return logits, Searched(state.memory, state.visible, buffers, end + 1)

    def _run(self, kind: Hashable, module: nn.Module, *tensors: Tensor | None) -> tuple[Tensor, ...]:
        """What the module makes of the tensors, by its recording of this kind as soon as that pays.

        The kind says what is decided by shapes and so stands in the recording: which kernels attention prefers.
        """
        recording = self._recordings.get(kind)
        if recording is None:
            self._seen[kind] += 1
            if self._seen[kind] > self.patience:
                recording = self._recordings[kind] = _trace(module, tensors)
        out: tuple[Tensor, ...] = module(*tensors) if recording is None else recording(*tensors)
        return out


def record(model: Transformer, patience: int = PATIENCE) -> Searchable[Any]:
    """The model's searches, recorded; the model itself where that cannot be.

    It cannot where a pattern keeps, chooses or leaves out, with positions that are not added to the embeddings, without
    a memory, and anywhere but on a CPU.
    """
    config = model.config
    sites = (config.encoder_attention, config.decoder_attention, config.cross_attention)
    usual = config.has_source and config.cross and config.positions not in ("rotary", "none")
    whole = not any(any(site.pattern().values()) for site in sites)
    untouched = all(m.gates is None and m.on_weights is None and m.n_heads for m in attentions(model).values())
    on_cpu = model.excluded_ids.device.type == "cpu"
    return Recorded(model, patience) if usual and whole and untouched and on_cpu else model


@dataclass(frozen=True)
class _Filling(KV):
    """A past in buffers k and v; tensors of one number say how many columns are in use, before and after a step."""

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


class _Part(nn.Module):
    """A part of a search that is recorded."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model


class _Encoder(_Part):
    """What of `start` is recorded."""

    def forward(self, src_ids: Tensor, positions: Tensor, src_valid: Tensor) -> tuple[Tensor, ...]:
        """Source ids (B, S), position vectors (S, D), validity (B, S) -> its logarithm, keys and values per layer."""
        visible = logarithm(src_valid, positions.dtype)
        memory = self.model.encode_embedded(self.model.src_embeddings.embed(src_ids, positions), visible)
        pairs = self.model.start_from(memory, visible).cross_kv
        return (visible, *(torch.stack((kv.k, kv.v)) for kv in pairs))  # one after another, as products read them


class _Step(_Part):
    """What of `step` is recorded."""

    def forward(self, ids: Tensor, positions: Tensor, visible: Tensor, used: Any, *layers: Tensor) -> tuple[Tensor]:
        """Ids (B*N,), position vectors (1, D), and per layer first the buffers of the cache, then the memory.

        ``used``, a tensor of one number, tells how many columns of the buffers are filled; the new one is written after
        them. Returns logits (B*N, V).
        """
        x = self.model.tgt_embeddings.embed(ids[:, None], positions)  # (B*N, 1, D)
        decoder = list(self.model.decoder)
        after = used + 1
        for layer, own, memory in zip(decoder, layers[: len(decoder)], layers[len(decoder) :], strict=True):
            x, _ = layer(x, _Filling(own[0], own[1], used=used, after=after), KV(memory[0], memory[1]), visible)
        return (self.model.logits(self.model.decoder_norm(x)[:, 0]),)


def _trace(module: nn.Module, example: tuple[Tensor | None, ...]) -> nn.Module:
    """A module's operations, whatever the number of rows and columns."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of decisions that are recorded, see `Recorded._run`; of the recorder's age
        recording: torch.jit.ScriptModule = torch.jit.freeze(torch.jit.trace(module.eval(), example, check_trace=False))
    drop_whole_slices(recording)
    return recording
