"""Does a model keep what this program promises? Ways of computing the same are compared on a bundle's own weights.

Each check is a function from a `Subject` to a `Finding`; whoever has another adds it to `CHECKS`. Everything runs in
float64 where it can, so that a difference is a fault and not rounding.
"""

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from translator.attention.capture import capture
from translator.attention.heads import attentions, closing, gated, prune
from translator.bundle import Bundle
from translator.data.batching import Batch
from translator.data.padding import pad
from translator.decoding.beam import beam_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import SearchRules
from translator.inference.options import TranslateOptions
from translator.inference.search import output_limit
from translator.inference.teacher_forcing import batch_of
from translator.inspection.probes import Probes
from translator.model.transformer import Transformer

EXACT = 1e-9  # float64 through all layers
SUMS = 1e-4  # searches add up float32 log-probabilities
PADDING = 5  # columns of padding that must not matter
CHUNKS = (1, 3)  # tokens that are decoded at once from the cache
_DEFAULTS = TranslateOptions()


@dataclass(frozen=True)
class Subject:
    """A model in float64 and evaluation mode, and pairs of piece ids without special pieces to try it on."""

    model: Transformer
    sources: list[list[int]]
    targets: list[list[int]]

    @property
    def batch(self) -> Batch:
        """All pairs."""
        return batch_of(self.model, self.sources, self.targets)


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
    model, batch = subject.model, subject.batch
    whole = _logits(model, batch)
    found = []
    for size in CHUNKS:
        state, hidden = model.start(batch.src_ids, batch.src_valid), []
        for chunk in batch.tgt_in.split(size, dim=1):
            of_chunk, state = model.extend(chunk, state)
            hidden.append(of_chunk)
        found.append(model.logits(torch.cat(hidden, dim=1))[batch.tgt_valid])
    return Finding("cached = uncached", _difference(torch.stack(found), whole), EXACT)


def batch_1_is_batch_n(subject: Subject) -> Finding:
    """A sentence is translated alone as it is among others: the same pieces with the same score."""
    together = _search(subject.model, subject.sources, _DEFAULTS.beam_size)
    alone = (_search(subject.model, [source], _DEFAULTS.beam_size)[0] for source in subject.sources)
    return Finding("batch 1 = batch N", _largest(map(_apart, together, alone)), SUMS)


def padded_is_unpadded(subject: Subject) -> Finding:
    """A pair with padding behind both sides has the logits that it has without."""
    model, batch = subject.model, subject.batch
    pad_id, more = model.config.pad_id, (0, PADDING)
    wider = batch._replace(
        src_ids=F.pad(batch.src_ids, more, value=pad_id), src_valid=F.pad(batch.src_valid, more, value=False),
        tgt_in=F.pad(batch.tgt_in, more, value=pad_id), tgt_valid=F.pad(batch.tgt_valid, more, value=False),
    )  # fmt: skip
    padded = _logits(model, wider)
    pairs = zip(subject.sources, subject.targets, strict=True)
    alone = torch.cat([_logits(model, Subject(model, [source], [target]).batch) for source, target in pairs])
    return Finding("padded = unpadded", _difference(padded, alone), EXACT)


def beam_1_is_greedy(subject: Subject) -> Finding:
    """A beam of one goes where the most probable piece leads, found by whole passes without cache, batch or search."""
    found = _search(subject.model, subject.sources, beam_size=1)
    plain = (_most_probable(subject.model, source) for source in subject.sources)
    return Finding("beam 1 = greedy", _largest(map(_apart, found, plain)), SUMS)


def masked_is_pruned(subject: Subject) -> Finding:
    """A head behind a gate of zero, and a model from which it is gone: the last head left of every site."""
    model, batch = subject.model, subject.batch
    heads = {site: [attention.kept[-1]] for site, attention in attentions(model).items() if attention.kept}
    pruned = copy.deepcopy(model)
    prune(pruned, heads)
    with gated(model, closing(model, heads)):
        masked = _logits(model, batch)
    return Finding("masked = pruned", _difference(_logits(pruned, batch), masked), EXACT)


def fused_is_explicit(subject: Subject) -> Finding:
    """The library's attention kernel gives the logits of the one that is written out."""
    fused = _logits(subject.model, subject.batch)
    with capture(subject.model):  # listening to the weights selects the explicit kernel
        explicit = _logits(subject.model, subject.batch)
    return Finding("fused = explicit", _difference(fused, explicit), EXACT)


#: All checks, in the order in which they are shown.
CHECKS: tuple[Check, ...] = (
    cached_is_uncached, batch_1_is_batch_n, padded_is_unpadded, beam_1_is_greedy, masked_is_pruned, fused_is_explicit,
)  # fmt: skip


def _logits(model: Transformer, batch: Batch) -> Tensor:
    """Teacher forcing -> logits of all real target positions, one pair after the other (n, V)."""
    logits: Tensor = model(batch.src_ids, batch.src_valid, batch.tgt_in)
    return logits[batch.tgt_valid]


def _search(model: Transformer, sources: Sequence[Sequence[int]], beam_size: int) -> list[Hypothesis]:
    """The best translation of each source, as `translate` finds it."""
    config = model.config
    source, valid = pad([[*ids, config.eos_id] for ids in sources], config.pad_id, torch.device("cpu"))
    limits = torch.tensor([output_limit(config, len(ids), _DEFAULTS) for ids in sources])
    rules = SearchRules(config.bos_id, config.eos_id, banned=(config.unk_id,))
    found = beam_search(model.step, model.start(source, valid), limits, rules, beam_size=beam_size)
    return [of_sentence[0] for of_sentence in found]


def _most_probable(model: Transformer, source: Sequence[int]) -> Hypothesis:
    """Greedy search at its plainest: the whole prefix anew for every piece."""
    config = model.config
    ids, limit = torch.tensor([[*source, config.eos_id]]), output_limit(config, len(source), _DEFAULTS)
    prefix, log_prob, finished = [config.bos_id], 0.0, False
    while not finished and len(prefix) <= limit:
        logits = model(ids, torch.ones_like(ids, dtype=torch.bool), torch.tensor([prefix]))
        log_probs = torch.log_softmax(logits[0, -1], dim=-1)  # (V,)
        log_probs[config.unk_id] = -math.inf
        best = int(log_probs.argmax())
        log_prob += float(log_probs[best])
        finished = best == config.eos_id
        prefix += [] if finished else [best]
    length = len(prefix) - 1 + finished
    return Hypothesis(tuple(prefix[1:]), log_prob, log_prob / max(length, 1), finished)


def _apart(one: Hypothesis, other: Hypothesis) -> float:
    """The difference of two scores; infinite where the pieces are not the same."""
    same = (one.ids, one.finished) == (other.ids, other.finished)
    return abs(one.score - other.score) if same else math.inf


def _difference(one: Tensor, other: Tensor) -> float:
    """The largest difference; equal infinities are equal, and what is no number stays so."""
    return float((one - other).abs().masked_fill(one == other, 0.0).max())


def _largest(differences: Iterable[float]) -> float:
    """As `max`, which would pass over a NaN."""
    return float(torch.tensor([*differences], dtype=torch.float64).max())
