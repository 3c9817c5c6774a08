"""Where in the decoder an alignment is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from translator.errors import UserError


@dataclass(frozen=True)
class Reading:
    """A decoder layer (from 0), the heads whose cross-attention is averaged, and the step: "output" or "input".

    At the output step a target piece is read where the decoder writes it, at the input step where it takes it in, one
    step later; see `translator.alignment.at_step`.
    """

    layer: int
    heads: tuple[int, ...]
    step: str = "output"

    @classmethod
    def from_config(cls, stored: Mapping[str, Any] | None) -> "Reading | None":
        """The reading that a bundle stores as ``{"layer": 2, "heads": [0, 3], "step": "output"}``, if it does."""
        if stored is None:
            return None
        return cls(int(stored["layer"]), tuple(stored["heads"]), stored.get("step", "output"))

    def to_config(self) -> dict[str, Any]:
        """Plain values, as a bundle stores them."""
        return {"layer": self.layer, "heads": list(self.heads), "step": self.step}


def choose_reading(
    heads_of_layers: Sequence[int],
    layer: int | None,
    heads: str | tuple[int, ...] | None,
    best: Reading | None,
    step: str | None = None,
) -> Reading:
    """What the user asked for, else the bundle's best, else the mean over heads of the middle layer, output step.

    ``heads_of_layers`` says how many heads each decoder layer has. The middle is rounded up (third of four): the last
    layers prepare the next word, the first ones have not found their source yet.

    Raises:
        UserError: a layer or head that does not exist, or "best" where no best is known.
    """
    if heads == "best" and best is None:
        raise UserError("this model stores no best heads for alignments; use mean or numbers such as 0,3")
    if best is not None and (heads == "best" or heads is None) and layer in (None, best.layer):
        layer, heads, step = best.layer, best.heads, step or best.step
    step = step or "output"
    layer = _middle(heads_of_layers) if layer is None else layer
    if not 0 <= layer < len(heads_of_layers):
        raise UserError(f"there is no decoder layer {layer}; layers go from 0 to {len(heads_of_layers) - 1}")
    n_heads = heads_of_layers[layer]
    if n_heads == 0:
        raise UserError(f"all cross-attention heads of decoder layer {layer} have been pruned: choose another layer")
    if heads is None or isinstance(heads, str):
        return Reading(layer, tuple(range(n_heads)), step)
    for head in heads:
        if not 0 <= head < n_heads:
            raise UserError(f"decoder layer {layer} has no head {head}; heads go from 0 to {n_heads - 1}")
    return Reading(layer, heads, step)


def _middle(heads_of_layers: Sequence[int]) -> int:
    """The middle layer, rounded up, or the nearest to it that has heads left."""
    middle = len(heads_of_layers) // 2
    with_heads = [layer for layer, heads in enumerate(heads_of_layers) if heads]
    return min(with_heads, key=lambda layer: abs(layer - middle), default=middle)
