"""Does a model keep what this program promises? Ways of computing the same are compared on a bundle's own weights.

Each check is a function from a `Subject` to a `Finding`; whoever has another adds it to `CHECKS`. Everything runs in
float64 where it can, so that a difference is a fault and not rounding.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from translator.attention.capture import capture
from translator.attention.heads import attentions, closing, gated, prune
from translator.bundle import Bundle
from translator.data.padding import pad
from translator.decoding.beam import beam_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import SearchRules
from translator.inference.options import EXTRA_PIECES, TranslateOptions
from translator.inspection.probes import Probes
from translator.model.transformer import Transformer

EXACT = 1e-9  # float64 through all layers
SUMS = 1e-4  # searches add up float32 log-probabilities
PADDING = 5  # columns of padding that must not matter
CHUNKS = (1, 3)  # tokens that are decoded at once from the cache


@dataclass(frozen=True)
class Subject:
    """A model in float64 and evaluation mode, and pairs of piece ids without special pieces to try it on."""

    model: Transformer
    sources: list[list[int]]
    targets: list[list[int]]


@dataclass(frozen=True)
class Finding:
    """How far two ways of computing the same lie apart, and how far they may."""

    name: str
    difference: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """False for a difference that is no number, too."""
        return self.difference <= self.tolerance


Check = Callable[[Subject], Finding]


def subject_of(bundle: Bundle, probes: Probes) -> Subject:
    """A copy of the bundle's model, so that nothing done here stays."""
    return Subject(copy.deepcopy(bundle.model).double().eval(), probes.sources, probes.targets)


@torch.no_grad()
def run_checks(subject: Subject, checks: Sequence[Check] | None = None) -> list[Finding]:
    """What each check finds, in their order."""
    return [check(subject) for check in (CHECKS if checks is None else checks)]


def cached_is_uncached(subject: Subject) -> Finding:
    """Decoding piece by piece, and in chunks, from the cache gives the logits of the whole target at once."""
    model, batch = subject.model, _Batch.of(subject)
    whole = batch.logits(model)
    differences = []
    for size in CHUNKS:
        state, hidden = model.start(batch.source, batch.valid), []
        for start in range(0, batch.target_in.shape[1], size):
            chunk, state = model.extend(batch.target_in[:, start : start + size], state)
            hidden.append(chunk)
        logits = model.logits(torch.cat(hidden, dim=1))
        differences.append(_difference(logits[batch.real], whole[batch.real]))
    return Finding("cached = uncached", _largest(differences), EXACT)


def batch_1_is_batch_n(subject: Subject) -> Finding:
    """A sentence is translated alone as it is among others: the same pieces with the same score."""
    together = _search(subject.model, subject.sources, beam_size=TranslateOptions().beam_size)
    alone = [_search(subject.model, [source], beam_size=TranslateOptions().beam_size)[0] for source in subject.sources]
    differences = [_apart(a, b) for a, b in zip(together, alone, strict=True)]
    return Finding("batch 1 = batch N", _largest(differences), SUMS)


def padded_is_unpadded(subject: Subject) -> Finding:
    """A pair with padding behind both sides has the logits that it has without."""
    padded = _Batch.of(subject, padding=PADDING)
    logits = padded.logits(subject.model)
    differences = []
    for row, (source, target) in enumerate(zip(subject.sources, subject.targets, strict=True)):
        alone = _Batch.of(Subject(subject.model, [source], [target]))
        differences.append(_difference(logits[row][padded.real[row]], alone.logits(subject.model)[0]))
    return Finding("padded = unpadded", _largest(differences), EXACT)


def beam_1_is_greedy(subject: Subject) -> Finding:
    """A beam of one goes where the most probable piece leads, found by whole passes without cache, batch or search."""
    found = _search(subject.model, subject.sources, beam_size=1)
    differences = [
        _apart(one, _most_probable(subject.model, source)) for one, source in zip(found, subject.sources, strict=True)
    ]
    return Finding("beam 1 = greedy", _largest(differences), SUMS)


def masked_is_pruned(subject: Subject) -> Finding:
    """A head behind a gate of zero, and a model from which it is gone: the last head left of every site."""
    model, batch = subject.model, _Batch.of(subject)
    heads = {site: [attention.kept[-1]] for site, attention in attentions(model).items() if attention.kept}
    pruned = copy.deepcopy(model)
    prune(pruned, heads)
    with gated(model, closing(model, heads)):
        masked = batch.logits(model)
    return Finding("masked = pruned", _difference(batch.logits(pruned)[batch.real], masked[batch.real]), EXACT)


def fused_is_explicit(subject: Subject) -> Finding:
    """The library's attention kernel gives the logits of the one that is written out."""
    batch = _Batch.of(subject)
    fused = batch.logits(subject.model)
    with capture(subject.model):  # listening to the weights selects the explicit kernel
        explicit = batch.logits(subject.model)
    return Finding("fused = explicit", _difference(fused[batch.real], explicit[batch.real]), EXACT)


#: All checks, in the order in which they are shown.
CHECKS: tuple[Check, ...] = (
    cached_is_uncached,
    batch_1_is_batch_n,
    padded_is_unpadded,
    beam_1_is_greedy,
    masked_is_pruned,
    fused_is_explicit,
)


@dataclass(frozen=True)
class _Batch:
    """Pairs as rectangles: source and target input (B, S), (B, T), and what of them is real."""

    source: Tensor
    valid: Tensor
    target_in: Tensor
    real: Tensor

    @classmethod
    def of(cls, subject: Subject, padding: int = 0) -> "_Batch":
        """All pairs of a subject, with ``padding`` more columns than the longest needs."""
        config, device = subject.model.config, torch.device("cpu")
        source, valid = pad([[*ids, config.eos_id] for ids in subject.sources], config.pad_id, device)
        target_in, real = pad([[config.bos_id, *ids] for ids in subject.targets], config.pad_id, device)
        if padding:
            source, target_in = (_widened(ids, padding, config.pad_id) for ids in (source, target_in))
            valid, real = (_widened(mask, padding, False) for mask in (valid, real))
        return cls(source, valid, target_in, real)

    def logits(self, model: Transformer) -> Tensor:
        """Teacher forcing -> (B, T, V)."""
        logits: Tensor = model(self.source, self.valid, self.target_in)
        return logits


def _widened(values: Tensor, columns: int, value: int | bool) -> Tensor:
    """(B, L) -> (B, L + columns), filled with ``value``."""
    return torch.cat((values, values.new_full((len(values), columns), value)), dim=1)


def _search(model: Transformer, sources: Sequence[Sequence[int]], beam_size: int) -> list[Hypothesis]:
    """The best translation of each source, as `translate` finds it."""
    config = model.config
    source, valid = pad([[*ids, config.eos_id] for ids in sources], config.pad_id, torch.device("cpu"))
    limits = torch.tensor([_limit(model, ids) for ids in sources])
    rules = SearchRules(config.bos_id, config.eos_id, banned=(config.unk_id,))
    found = beam_search(model.step, model.start(source, valid), limits, rules, beam_size=beam_size)
    return [of_sentence[0] for of_sentence in found]


def _most_probable(model: Transformer, source: Sequence[int]) -> Hypothesis:
    """Greedy search at its plainest: the whole prefix anew for every piece."""
    config = model.config
    ids, valid = pad([[*source, config.eos_id]], config.pad_id, torch.device("cpu"))
    prefix, log_prob, finished = [config.bos_id], 0.0, False
    while not finished and len(prefix) <= _limit(model, source):
        log_probs = torch.log_softmax(model(ids, valid, torch.tensor([prefix]))[0, -1], dim=-1)  # (V,)
        log_probs[config.unk_id] = -math.inf
        best = int(log_probs.argmax())
        log_prob += float(log_probs[best])
        finished = best == config.eos_id
        prefix += [] if finished else [best]
    length = len(prefix) - 1 + finished
    return Hypothesis(tuple(prefix[1:]), log_prob, log_prob / max(length, 1), finished)


def _limit(model: Transformer, source: Sequence[int]) -> int:
    """How many pieces `translate` lets a source become."""
    limit = int(TranslateOptions().max_length_ratio * len(source)) + EXTRA_PIECES
    return min(limit, model.config.max_positions) if model.config.positions == "learned" else limit


def _apart(one: Hypothesis, other: Hypothesis) -> float:
    """The difference of two scores; infinite where the pieces are not the same."""
    same = (one.ids, one.finished) == (other.ids, other.finished)
    return abs(one.score - other.score) if same else math.inf


def _difference(one: Tensor, other: Tensor) -> float:
    """The largest difference; equal infinities are equal, and what is no number stays so."""
    return float((one - other).abs().masked_fill(one == other, 0.0).max())


def _largest(differences: Sequence[float]) -> float:
    """As `max`, which would pass over a NaN."""
    return float(torch.tensor(differences, dtype=torch.float64).max())
