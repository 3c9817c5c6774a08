"""Record what attention looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor, nn

from translator.attention.heads import attentions


@dataclass
class Record:
    """Per-head weights (B, H, Q, K) by kind of attention and layer, counted from 0.

    Of a layer that ran more than once (decoding step by step) the newest weights are kept.
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
    record, sites = Record(), attentions(model)
    before = {site: attention.on_weights for site, attention in sites.items()}
    for site, attention in sites.items():
        kind, layer = site.split(".")
        attention.on_weights = partial(getattr(record, kind).__setitem__, int(layer))
    try:
        yield record
    finally:
        for site, listener in before.items():
            sites[site].on_weights = listener
