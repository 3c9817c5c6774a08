"""Models whose query heads share fewer key/value heads than they were trained with."""

import copy
from collections.abc import Sequence
from dataclasses import replace

from translator.attention.heads import attentions
from translator.attention.sharing import share_key_value_heads
from translator.bundle import Bundle
from translator.errors import UserError
from translator.model.config import ModelConfig


def key_value_heads(config: ModelConfig, kind: str) -> int:
    """How many key/value heads the attentions of a kind (encoder, decoder, cross) have, before any was pruned."""
    return int(getattr(config, f"{kind}_attention").n_kv_heads or config.n_heads)


def share_bundle(bundle: Bundle, kinds: Sequence[str], n_kv_heads: int) -> Bundle:
    """The bundle with ``n_kv_heads`` averaged key/value heads in attentions of these kinds; the given one stays.

    Raises UserError where a kind has no more than that already, or a number that is no multiple of it.
    """
    model, config = copy.deepcopy(bundle.model), bundle.model.config
    for kind in kinds:
        present = key_value_heads(config, kind)
        if n_kv_heads >= present:
            raise UserError(f"{kind}: there are {present} key/value heads already; ask for fewer, or for other sites")
        for site, attention in attentions(model).items():
            if site.startswith(f"{kind}."):
                share_key_value_heads(attention, present, n_kv_heads)
        shared = replace(getattr(config, f"{kind}_attention"), n_kv_heads=n_kv_heads)
        config = replace(config, **{f"{kind}_attention": shared})
    model.config = config
    return replace(bundle, model=model, config={**bundle.config, "model": config.to_dict()})
