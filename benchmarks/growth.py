"""What an output token costs as the output grows: with a cache and without, by batch, beam and key/value heads.

Weights are random and outputs forced to their length by forbidding the end of sentence: neither changes the work of
a step.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import torch
from torch import Tensor

from benchmarks.figures import parameters, rate, spread
from benchmarks.memory import PeakMemory
from benchmarks.timing import Job, synchronize
from benchmarks.uncached import Prefixes, UncachedTransformer
from translator.decoding.beam import beam_search
from translator.decoding.interface import S, SearchRules, Step
from translator.device import choose_device, surroundings
from translator.model.config import ModelConfig
from translator.model.state import DecoderState
from translator.model.transformer import Transformer


@dataclass(frozen=True)
class GrowthJob(Job):
    """One way to decode, looked at where outputs reach each of ``lengths``.

    ``model`` holds the sizes as in conf/model; ``kv_heads`` None is one for each head; a ``window`` is of
    self-attention.
    """

    name: str
    model: Mapping[str, Any]
    lengths: tuple[int, ...]
    vocab_size: int = 8000
    kv_heads: int | None = None
    window: int | None = None
    cache: bool = True
    batch: int = 8
    beam: int = 1
    source_length: int = 24


def variants(
    base: GrowthJob, batches: Sequence[int], beams: Sequence[int], kv_heads: Sequence[int]
) -> Iterator[GrowthJob]:
    """The base with and without a cache, then with one thing changed at a time."""
    yield base
    yield replace(base, cache=False)
    yield from (replace(base, batch=batch) for batch in batches if batch != base.batch)
    yield from (replace(base, beam=beam) for beam in beams if beam != base.beam)
    all_heads = base.model["n_heads"]
    yield from (replace(base, kv_heads=heads) for heads in kv_heads if heads != all_heads)


class Watch(Generic[S]):
    """A step that notes when it is called, and what the state holds at the lengths of interest."""

    def __init__(self, step: Step[S], lengths: Sequence[int], device: torch.device) -> None:
        self._step, self._lengths, self._device = step, frozenset(lengths), device
        self.calls: list[float] = []
        self.held: dict[int, tuple[int, int]] = {}

    def __call__(self, last_ids: Tensor, state: S) -> tuple[Tensor, S]:
        """One step of the model, which has read as many tokens as there were calls before."""
        synchronize(self._device)
        if len(self.calls) in self._lengths:
            self.held[len(self.calls)] = held_bytes(state)
        self.calls.append(time.perf_counter())
        return self._step(last_ids, state)

    def seconds_at(self, length: int) -> float:
        """Mean time from call to call, search included, over the last eighth of an output of this length."""
        first = length - max(length // 8, 1)
        return (self.calls[length] - self.calls[first]) / (length - first)


def growth_rows(job: GrowthJob) -> list[dict[str, Any]]:
    """A row a length: milliseconds an output token (of the whole batch), and the bytes that the state holds."""
    device, dtype = choose_device(job.device, job.precision, job.threads)
    model = build(job).to(device=device, dtype=dtype)
    memory = PeakMemory()
    decode(model, job, device, longest=4)
    watches = [decode(model, job, device, longest=max(job.lengths)) for _ in range(job.rounds)]
    fixed = {
        "kind": "growth",
        "model": job.name,
        "parameters": parameters(model),
        **job.told("cache", "batch", "beam", "precision", "source_length", "rounds"),
        "kv_heads": job.kv_heads or model.config.n_heads,
    }
    around = {**memory.row(device), **surroundings(device)}
    rows = []
    for length in sorted(job.lengths):
        seconds = [watch.seconds_at(length) for watch in watches]
        grown, constant = watches[0].held[length]
        rows.append({
            **fixed,
            "length": length,
            **spread("ms_per_token", [1e3 * value for value in seconds]),
            **rate("tokens_per_second", job.batch, seconds),
            "state_bytes": grown,  # of what grows with the output, over all rows
            "state_bytes_per_token": grown / (job.batch * job.beam * length),
            "source_bytes": constant,
            **around,
        })  # fmt: skip
    return rows


def build(job: GrowthJob) -> Transformer:
    """An untrained model, the same for each job but for its kind of attention."""
    torch.manual_seed(1)
    cross = {"n_kv_heads": job.kv_heads}
    own = {**cross, "window": job.window}
    sites = {"encoder_attention": own, "decoder_attention": own, "cross_attention": cross}
    config = ModelConfig.from_dict({**job.model, **sites, "vocab_size": job.vocab_size})
    return (Transformer if job.cache else UncachedTransformer)(config).eval()


def decode(model: Transformer, job: GrowthJob, device: torch.device, longest: int) -> Watch[Any]:
    """Search until every output has ``longest`` tokens, and one more, so that the time of the last is known."""
    config = model.config
    first = config.eos_id + 1
    ids = first + torch.arange(job.batch * job.source_length, device=device) % (config.vocab_size - first)
    source = ids.view(job.batch, job.source_length)
    watch: Watch[Any] = Watch(model.step, job.lengths, device)
    with torch.no_grad():
        state = model.start(source, torch.ones_like(source, dtype=torch.bool))
        limits = torch.full((job.batch,), longest + 1, device=device)
        rules = SearchRules(config.bos_id, config.eos_id, banned=(config.eos_id, config.unk_id))
        beam_search(watch, state, limits, rules, beam_size=job.beam)
    return watch


def held_bytes(state: object) -> tuple[int, int]:
    """Bytes of what grows with the output (over all rows), and of what is kept of the source."""
    if isinstance(state, DecoderState):
        grown = [t for kv in state.self_kv if kv is not None for t in (kv.k, kv.v)]
        constant = [t for kv in state.cross_kv for t in (kv.k, kv.v)]
    else:
        assert isinstance(state, Prefixes)
        grown, constant = [state.ids], [state.memory]
    return _bytes(grown), _bytes(constant)


def _bytes(tensors: Sequence[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
