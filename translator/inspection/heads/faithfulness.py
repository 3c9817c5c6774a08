"""How far a head's weights tell which source words mattered. A head's weights are not an explanation.

Jain & Wallace 2019 (1902.10186) found that attention agrees badly with gradients and with what happens when an input
is left out, and Serrano & Smith 2019 (1906.03731) that leaving out what attention ranks first often changes little;
Wiegreffe & Pinter 2019 (1908.04626) answer that weights may be *an* explanation where they can be tested. So here
they are tested. For each target word, three orders of the source words are compared by Spearman's rank correlation:

* weights: a cross-attention head's weight on the pieces of the source word, in the steps that write the word's pieces
  (their mean), the end of sentence left out;
* erasure: how much the log-probability of the target word falls when the source word is erased. Erased means hidden:
  no position of encoder or decoder may attend to its pieces, all others keep their places and the target is forced;
* gradient: |sum over pieces of x . d log p / d x|, x being the vector (embedding and position) that enters the
  encoder, and p the probability of the target word.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from translator.attention.heads import attentions
from translator.inference.teacher_forcing import attention_weights, batch_of, token_log_probs
from translator.inspection.heads.names import Head
from translator.inspection.heads.rank_correlation import spearman
from translator.inspection.heads.study import Study
from translator.model.transformer import Transformer

#: With fewer source words than this an order says next to nothing.
FEWEST_WORDS = 3


@dataclass(frozen=True)
class Faithfulness:
    """Mean rank correlations over target words, of each cross-attention head, and of the two yardsticks themselves."""

    heads: dict[Head, dict[str, float]]  # "erasure" and "gradient"
    agreement: float  # of erasure with gradient: what a good explanation could be expected to reach
    pairs: int
    words: int  # target words


@dataclass(frozen=True)
class Forced:
    """A pair as pieces, without special symbols, and the word of each piece, in ascending order."""

    source: list[int]
    source_words: list[int]
    target: list[int]
    target_words: list[int]

    @property
    def source_groups(self) -> Tensor:
        """Which piece belongs to which source word (S, n), as 0 and 1; words without pieces are passed over."""
        return _groups(self.source_words)

    @property
    def target_groups(self) -> Tensor:
        """The same for the target (T, m)."""
        return _groups(self.target_words)


def faithfulness(study: Study, pairs: int) -> Faithfulness:
    """Correlations on the first ``pairs`` sources with the model's own greedy translations of them."""
    found: dict[Head, dict[str, list[Tensor]]] = defaultdict(lambda: {"erasure": [], "gradient": []})
    agreement: list[Tensor] = []
    for pair in _own_translations(study, pairs):
        dropped, gradient = erasure(study.model, pair), gradient_times_input(study.model, pair)  # (m, n)
        agreement.append(spearman(dropped, gradient))
        for head, weights in word_weights(study.model, pair).items():
            found[head]["erasure"].append(spearman(weights, dropped))
            found[head]["gradient"].append(spearman(weights, gradient))
    means = {head: {name: _mean(values) for name, values in of_head.items()} for head, of_head in found.items()}
    return Faithfulness(means, _mean(agreement), len(agreement), sum(map(len, agreement)))


@torch.no_grad()
def erasure(model: Transformer, pair: Forced) -> Tensor:
    """How much log p of each target word falls when a source word is hidden, in nats (m target, n source words)."""
    groups = pair.source_groups.to(model.output.weight.device)  # (S, n)
    n = groups.shape[1]
    valid = torch.ones(n + 1, len(pair.source) + 1, dtype=torch.bool, device=groups.device)
    valid[1:, :-1] = groups.t() == 0  # row 0 hides nothing; the end of sentence always stays
    log_probs = _log_probs(model, pair, valid)  # (n + 1, T)
    dropped = (log_probs[:1] - log_probs[1:]).cpu()  # (n, T)
    return (dropped @ pair.target_groups.to(dropped.dtype)).t()


def gradient_times_input(model: Transformer, pair: Forced) -> Tensor:
    """|x . d log p(target word) / d x| of each source word, x entering the encoder (m target, n source words)."""
    groups = pair.target_groups.to(model.output.weight.device)  # (T, m)
    m = groups.shape[1]
    valid = torch.ones(m, len(pair.source) + 1, dtype=torch.bool, device=groups.device)
    seen: list[Tensor] = []
    with torch.enable_grad(), model.src_embeddings.register_forward_hook(lambda *call: seen.append(call[2])):
        log_probs = _log_probs(model, pair, valid)  # (m, T): a row of its own for each target word
        total = (log_probs * groups.t()).sum()
        (gradient,) = torch.autograd.grad(total, seen)  # (m, S + 1, D)
    pieces = (gradient * seen[0].detach()).sum(dim=-1)[:, :-1].cpu()  # (m, S)
    return (pieces @ pair.source_groups.to(pieces.dtype)).abs()


@torch.no_grad()
def word_weights(model: Transformer, pair: Forced) -> dict[Head, Tensor]:
    """Cross-attention of every head between words (m target, n source words); rows sum to 1."""
    cross = attention_weights(model, batch_of(model, [pair.source], [pair.target])).cross
    found = {}
    share = pair.target_groups / pair.target_groups.sum(dim=0)  # (T, m)
    for layer, weights in sorted(cross.items()):
        kept = attentions(model)[f"cross.{layer}"].kept
        steps = weights[0, :, : len(pair.target), : len(pair.source)].cpu().double()  # (H, T, S)
        steps = steps / steps.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
        for number, of_head in zip(kept, steps, strict=True):
            found[Head("cross", layer, number)] = share.t().double() @ of_head @ pair.source_groups.double()
    return found


def _own_translations(study: Study, pairs: int) -> Iterator[Forced]:
    """Pairs long enough to be compared."""
    encode = study.translator.tokenizer.encode_with_words
    for source, target in zip(study.text.sources, study.translate(pairs), strict=False):
        pair = Forced(*encode(source), *encode(target))
        if pair.target and len(set(pair.source_words)) >= FEWEST_WORDS:
            yield pair


def _log_probs(model: Transformer, pair: Forced, valid: Tensor) -> Tensor:
    """Log-probability of each target piece when only valid source positions (B, S + 1) can be seen (B, T)."""
    batch = batch_of(model, [pair.source], [pair.target])
    once = (batch.src_ids, batch.tgt_in[:, :-1], batch.tgt_out[:, :-1])
    source, target_in, target_out = (ids.expand(len(valid), -1) for ids in once)
    return token_log_probs(model(source, valid, target_in), target_out)


def _mean(values: Sequence[Tensor]) -> float:
    """The mean of all that are numbers; NaN of none."""
    real = [of_pair[of_pair.isfinite()] for of_pair in values]
    count = sum(map(len, real))
    return sum(float(of_pair.sum()) for of_pair in real) / count if count else math.nan


def _groups(words: Sequence[int]) -> Tensor:
    """Word of each piece -> (pieces, words that have any) of 0 and 1."""
    return nn.functional.one_hot(torch.tensor(words, dtype=torch.long).unique(return_inverse=True)[1]).float()
