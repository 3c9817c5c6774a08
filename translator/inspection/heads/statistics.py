"""What heads look at: figures of their weights over the pairs of a study, by teacher forcing."""

import math
import unicodedata
from collections import defaultdict
from collections.abc import Mapping

import torch
from torch import Tensor

from translator.data.batching import Batch
from translator.data.lines import WORD_MARK
from translator.data.tokenizer import Tokenizer
from translator.inference.teacher_forcing import attention_weights
from translator.inspection.heads.names import Head, places
from translator.inspection.heads.study import Study

OFFSETS = {"previous": -1, "same": 0, "next": 1}


@torch.no_grad()
def statistics(study: Study) -> tuple[dict[Head, dict[str, float]], dict[str, Tensor]]:
    """Of every head the means of `weight_sums` over all its queries; of every site `similarity`, (H, H)."""
    sums: dict[str, dict[str, Tensor]] = defaultdict(dict)
    counts: dict[str, int] = defaultdict(int)
    marked = punctuation(study.translator.tokenizer)
    for batch in study.batches:
        for kind, layers in vars(attention_weights(study.model, batch)).items():
            real, marks = _queries_and_marks(kind, batch, marked, study)
            for layer, recorded in layers.items():
                site, weights = f"{kind}.{layer}", recorded.to(torch.promote_types(recorded.dtype, torch.float32))
                found = {**weight_sums(weights, real, marks), "similarity": similarity(weights, real)}
                counts[site] += int(real.sum())
                for name, value in found.items():
                    sums[site][name] = sums[site].get(name, 0.0) + value
    means = {site: {name: value / counts[site] for name, value in of.items()} for site, of in sums.items()}
    similar = {site: of.pop("similarity") for site, of in means.items()}
    figures = {
        head: {name: float(values[place]) for name, values in means[head.site].items()}
        for head, place in places(study.model).items()
    }
    return figures, similar


def weight_sums(weights: Tensor, real: Tensor, marks: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights (B, H, Q, K), ``real`` queries (B, Q) -> figures of each head, summed over the real queries (H,).

    ``entropy`` in nats: ln n where n keys get the same, 0 where one gets all. ``distance`` |key - query| in pieces;
    ``previous``, ``same`` and ``next`` the weight on the key at the query's position - 1, + 0, + 1. In
    cross-attention the query's position is that of the target piece which is being written. A mark (B, K) of keys
    gives the weight on the keys that have it.
    """
    keys, queries = (torch.arange(n, device=weights.device) for n in (weights.shape[3], weights.shape[2]))
    offset = keys[None, :] - queries[:, None]  # (Q, K)
    figures = {
        "entropy": torch.special.entr(weights).sum(dim=-1),  # (B, H, Q)
        "distance": (weights * offset.abs()).sum(dim=-1),
        **{name: (weights * (offset == step)).sum(dim=-1) for name, step in OFFSETS.items()},
        **{name: (weights * mark[:, None, None, :]).sum(dim=-1) for name, mark in marks.items()},
    }
    return {name: figure.masked_fill(~real[:, None], 0.0).sum(dim=(0, 2)) for name, figure in figures.items()}


def similarity(weights: Tensor, real: Tensor) -> Tensor:
    """1 - Jensen-Shannon divergence in bits between any two heads, summed over the real queries -> (H, H).

    1 a query for heads that look the same way, 0 for heads that share no key (Lin 1991; used between heads by Clark
    2019, 1906.04341, 6).
    """
    entropy = torch.special.entr(weights).sum(dim=-1)  # (B, H, Q)
    rows = []
    for head in range(weights.shape[1]):
        mixed = torch.special.entr((weights + weights[:, head : head + 1]) / 2).sum(dim=-1)
        nats = mixed - (entropy + entropy[:, head : head + 1]) / 2  # (B, H, Q)
        alike = 1.0 - nats / math.log(2.0)
        rows.append(alike.masked_fill(~real[:, None], 0.0).sum(dim=(0, 2)))
    return torch.stack(rows) if rows else weights.new_zeros(0, 0)


def punctuation(tokenizer: Tokenizer) -> Tensor:
    """Which pieces are nothing but punctuation, a word mark aside (V,)."""
    pieces = (piece.strip(WORD_MARK) for piece in tokenizer.pieces(range(tokenizer.vocab_size)))
    return torch.tensor([piece != "" and all(unicodedata.category(c)[0] == "P" for c in piece) for piece in pieces])


def _queries_and_marks(kind: str, batch: Batch, marked: Tensor, study: Study) -> tuple[Tensor, dict[str, Tensor]]:
    """Of a kind of attention: which queries are real (B, Q), and marks of its keys (B, K), punctuation and ends.

    The end is the end of the source sentence; the decoder, which has not read the end of what it is writing, has the
    beginning of sentence in its place.
    """
    config = study.model.config
    keys, end = (batch.tgt_in, config.bos_id) if kind == "decoder" else (batch.src_ids, config.eos_id)
    real = batch.src_valid if kind == "encoder" else batch.tgt_valid
    return real, {"punctuation": marked.to(keys.device)[keys], "ends": keys == end}
