"""What a model says about a given pair, by teacher forcing: its log-probability and where it looked.

Sources and targets are piece ids without special symbols; end of sentence and begin of sentence are added here.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from translator.alignment.reading import Reading
from translator.attention.capture import Record, capture
from translator.data.batching import Batch, collate
from translator.data.padding import length_batches
from translator.model.transformer import Transformer

Ids = Sequence[int]

#: Rows times length of one forced batch: keeps logits and recorded weights of long pairs small.
BATCH_TOKENS = 2048


def batch_of(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> Batch:
    """Pairs as one batch on the model's device."""
    config, pairs = model.config, list(zip(sources, targets, strict=True))
    return collate(pairs, config.pad_id, config.bos_id, config.eos_id).to(next(model.parameters()).device)


def batches(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> Iterator[tuple[list[int], Batch]]:
    """Pairs of similar lengths together, and which ones they are."""
    lengths = [max(len(s), len(t)) + 1 for s, t in zip(sources, targets, strict=True)]
    for indices in length_batches(lengths, BATCH_TOKENS):
        yield indices, batch_of(model, [sources[i] for i in indices], [targets[i] for i in indices])


def token_log_probs(logits: Tensor, targets: Tensor) -> Tensor:
    """Logits (..., V) -> log p of the target pieces (...), in float32 or better."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return torch.log_softmax(logits, dim=-1).gather(-1, targets[..., None])[..., 0]


def pair_log_probs(model: Transformer, batch: Batch) -> Tensor:
    """log p(target, end of sentence | source) of every pair: a sum over pieces, natural logarithm (B,)."""
    steps = token_log_probs(model(batch.src_ids, batch.src_valid, batch.tgt_in), batch.tgt_out)  # (B, T)
    return steps.masked_fill(~batch.tgt_valid, 0.0).sum(dim=1)


def attention_weights(model: Transformer, batch: Batch) -> Record:
    """What every layer and head looks at; of a target of T pieces, the rows are its T + 1 steps, then padding."""
    with capture(model) as record:
        model.decode(batch.tgt_in, model.encode(batch.src_ids, batch.src_valid), batch.src_valid)
    return record


def log_probs(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[float]:
    """log p(target, end of sentence | source) of every pair, as `pair_log_probs`."""
    found = [0.0] * len(sources)
    for indices, batch in batches(model, sources, targets):
        for index, total in zip(indices, pair_log_probs(model, batch).tolist(), strict=True):
            found[index] = total
    return found


def cross_attention(
    model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids], reading: Reading
) -> list[Tensor]:
    """Weights at the places of a reading, averaged: one matrix (T, S + 1) a pair, on the CPU.

    Row t belongs to the step that puts out piece t, or at the input step to the one that reads it
    (`translator.alignment.steps.at_step`); the last column is the source's end of sentence.
    """
    found = [torch.empty(0, 0)] * len(sources)
    for indices, batch in batches(model, sources, targets):
        weights = reading.rows(attention_weights(model, batch).cross).cpu()  # (B, T, S + 1)
        for row, index in enumerate(indices):
            found[index] = weights[row, : len(targets[index]), : len(sources[index]) + 1].clone()
    return found


def all_cross_attention(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[Tensor]]:
    """Weights of every step and head, in one pass: of each pair a tensor (H, T + 1, S + 1) a decoder layer, on the CPU.

    Row t belongs to the step that reads piece t - 1 and puts out piece t; `Reading.rows` takes either reading from it.
    The last column is the source's end of sentence.
    """
    found: list[list[Tensor]] = [[] for _ in sources]
    for indices, batch in batches(model, sources, targets):
        for _, of_layer in sorted(attention_weights(model, batch).cross.items()):
            weights = of_layer.float().cpu()  # (B, H, T + 1, S + 1)
            for row, index in enumerate(indices):
                found[index].append(weights[row, :, : len(targets[index]) + 1, : len(sources[index]) + 1].clone())
    return found
