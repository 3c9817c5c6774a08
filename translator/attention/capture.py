"""Record what attention looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn

from translator.attention.multihead import (
    CausalSelfAttention,
    CrossAttention,
    MultiHeadAttention,
    SelfAttention,
)


@dataclass
class Record:
    """Per-head weights (B, H, Q, K) by kind of attention; one entry a layer, first layer first.

    Where a layer ran more than once (decoding step by step), the newest weights stand.
    """

    encoder: dict[int, Tensor] = field(default_factory=dict)
    decoder: dict[int, Tensor] = field(default_factory=dict)
    cross: dict[int, Tensor] = field(default_factory=dict)


@contextmanager
def capture(model: nn.Module) -> Iterator[Record]:
    """Record the attention weights of every layer of ``model`` that runs inside the ``with`` block.

    Listening selects the explicit kernel; weights are recorded before dropout, in full per head. Listeners that were
    set before are restored on the way out.
    """
    record = Record()
    attentions = [m for m in model.modules() if isinstance(m, MultiHeadAttention)]
    before = [attention.on_weights for attention in attentions]
    kinds: list[tuple[type[MultiHeadAttention], dict[int, Tensor]]] = [
        (SelfAttention, record.encoder),
        (CausalSelfAttention, record.decoder),
        (CrossAttention, record.cross),
    ]
    for kind, weights in kinds:
        for layer, attention in enumerate(a for a in attentions if isinstance(a, kind)):
            attention.on_weights = lambda w, weights=weights, layer=layer: weights.__setitem__(layer, w)
    try:
        yield record
    finally:
        for attention, listener in zip(attentions, before, strict=True):
            attention.on_weights = listener
