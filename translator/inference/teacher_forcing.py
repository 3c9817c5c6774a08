"""What a model says about a given pair, by teacher forcing: its log-probability and where it looked.

Sources and targets are piece ids without special symbols; end of sentence and begin of sentence are added here.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from translator.alignment.reading import Reading
from translator.attention.capture import capture
from translator.data.padding import length_batches, pad
from translator.model.transformer import Transformer

Ids = Sequence[int]

#: Rows times length of one forced batch: keeps logits and recorded weights of long pairs small.
BATCH_TOKENS = 2048


def log_probs(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[float]:
    """log p(target, end of sentence | source) of every pair: a sum over pieces, natural logarithm."""
    found = [0.0] * len(sources)
    for batch in _batches(sources, targets):
        source, valid, target_in = _inputs(model, [sources[i] for i in batch], [targets[i] for i in batch])
        target_out, real = pad([[*targets[i], model.config.eos_id] for i in batch], 0, source.device)
        logits = model(source, valid, target_in)  # (B, T, V)
        steps = torch.log_softmax(logits.float(), dim=-1).gather(2, target_out[:, :, None])[:, :, 0]  # (B, T)
        for index, total in zip(batch, steps.masked_fill(~real, 0.0).sum(dim=1).tolist(), strict=True):
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
    for batch, cross in _recorded(model, sources, targets):
        weights = reading.rows(cross).cpu()  # (B, T, S + 1)
        for row, index in enumerate(batch):
            found[index] = weights[row, : len(targets[index]), : len(sources[index]) + 1].clone()
    return found


def all_cross_attention(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[Tensor]]:
    """Weights of every step and head, in one pass: of each pair a tensor (H, T + 1, S + 1) a decoder layer, on the CPU.

    Row t belongs to the step that reads piece t - 1 and puts out piece t; `Reading.rows` takes either reading from it.
    The last column is the source's end of sentence.
    """
    found: list[list[Tensor]] = [[] for _ in sources]
    for batch, cross in _recorded(model, sources, targets):
        for layer in sorted(cross):
            weights = cross[layer].float().cpu()  # (B, H, T + 1, S + 1)
            for row, index in enumerate(batch):
                found[index].append(weights[row, :, : len(targets[index]) + 1, : len(sources[index]) + 1].clone())
    return found


def _recorded(
    model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]
) -> Iterator[tuple[list[int], dict[int, Tensor]]]:
    """The indices of each batch, and its cross-attention (B, H, T + 1, S + 1) by layer."""
    for batch in _batches(sources, targets):
        source, valid, target_in = _inputs(model, [sources[i] for i in batch], [targets[i] for i in batch])
        with capture(model) as record:
            model.decode(target_in, model.encode(source, valid), valid)
        yield batch, record.cross


def _batches(sources: Sequence[Ids], targets: Sequence[Ids]) -> list[list[int]]:
    lengths = [max(len(s), len(t)) + 1 for s, t in zip(sources, targets, strict=True)]
    return length_batches(lengths, BATCH_TOKENS)


def _inputs(model: Transformer, sources: list[Ids], targets: list[Ids]) -> tuple[Tensor, Tensor, Tensor]:
    """Source ids (B, S), valid (B, S) and target input (B, T)."""
    config, device = model.config, next(model.parameters()).device
    source, valid = pad([[*s, config.eos_id] for s in sources], config.pad_id, device)
    target_in, _ = pad([[config.bos_id, *t] for t in targets], config.pad_id, device)
    return source, valid, target_in
