"""Models without the heads that they can do without: which to take, and what is left."""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from translator.alignment.reading import LayerHeads, Reading
from translator.attention.heads import attentions
from translator.bundle import Bundle
from translator.errors import UserError
from translator.inspection.heads.names import NAMES, Head, by_site
from translator.model.transformer import Transformer


def least_important(
    importance: Mapping[Head, float], keep: float, kinds: Collection[str] = tuple(NAMES), *, per_kind: bool = False
) -> list[Head]:
    """The heads to remove so that a share of them is kept, the most important ones; at least one is.

    ``kinds`` (encoder, decoder, cross) are taken together, or with ``per_kind`` keep their share each; heads of other
    kinds are neither counted nor removed. Raises UserError for a share that is not above 0 and at most 1.
    """
    check_share(keep)
    gone: set[Head] = set()
    for group in [[kind] for kind in kinds] if per_kind else [list(kinds)]:
        ranked = sorted((head for head in importance if head.kind in group), key=importance.__getitem__)
        gone |= set(ranked[: len(ranked) - max(round(keep * len(ranked)), 1)])
    return [head for head in importance if head in gone]


def check_share(keep: float) -> None:
    """Raise UserError for a share that is not above 0 and at most 1."""
    if not 0.0 < keep <= 1.0:
        raise UserError(f"the share of heads to keep must be above 0 and at most 1, not {keep:g}")


def prune_bundle(bundle: Bundle, heads: Sequence[Head]) -> Bundle:
    """The bundle without these heads; the given one is left as it is.

    The place where alignments are read best is told by the heads' new places, or dropped with its last head. Raises
    UserError for a head that is not there.
    """
    model = copy.deepcopy(bundle.model)
    model.prune_heads(by_site(heads))
    config = {**bundle.config, "model": model.config.to_dict()}
    reading = Reading.from_config(config.pop("alignment", None))
    if reading is not None and (places := _left(reading, bundle.model, model)):
        config["alignment"] = replace(reading, places=places).to_config()
    return replace(bundle, model=model, config=config)


def _left(reading: Reading, before: Transformer, after: Transformer) -> tuple[LayerHeads, ...]:
    """Where the heads of a reading stand now, those that are left."""
    places = []
    for layer, heads in reading.places:
        old, new = (attentions(model)[f"cross.{layer}"].kept for model in (before, after))
        left = tuple(new.index(old[head]) for head in heads if old[head] in new)
        places += [LayerHeads(layer, left)] if left else []
    return tuple(places)
