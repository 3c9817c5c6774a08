"""Where in the decoder an alignment is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from translator.alignment.steps import at_step
from translator.errors import UserError


class LayerHeads(NamedTuple):
    """Heads of one decoder layer, both counted from 0 among those that are left."""

    layer: int
    heads: tuple[int, ...]


@dataclass(frozen=True)
class Reading:
    """The places whose cross-attention is averaged, every head alike, and the step: "output" or "input".

    At the output step a target piece is read where the decoder writes it, at the input step where it takes it in, one
    step later; see `translator.alignment.steps.at_step`.
    """

    places: tuple[LayerHeads, ...]
    step: str = "output"

    @classmethod
    def at(cls, layer: int, heads: Sequence[int], step: str = "output") -> "Reading":
        """A reading of one layer."""
        return cls((LayerHeads(layer, tuple(heads)),), step)

    @classmethod
    def across(cls, heads_of_layers: Sequence[int], layers: Sequence[int], step: str = "output") -> "Reading":
        """All heads of some layers; ``heads_of_layers`` says how many heads each decoder layer has."""
        return cls(tuple(LayerHeads(layer, tuple(range(heads_of_layers[layer]))) for layer in layers), step)

    def mean(self, layers: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """Weights (..., H, T, S) of each decoder layer -> (..., T, S), averaged over the places; steps as they are."""
        heads = [layers[place.layer][..., list(place.heads), :, :] for place in self.places]
        return torch.cat(heads, dim=-3).float().mean(dim=-3)

    def rows(self, layers: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """Weights (..., H, T + 1, S + 1) of each decoder layer -> rows of the target pieces (..., T, S + 1)."""
        return at_step(self.mean(layers), self.step)

    def __str__(self) -> str:
        """In words: layer 0, head 2, output step."""
        layers, numbers = "+".join(str(place.layer) for place in self.places), {place.heads for place in self.places}
        count = sum(len(place.heads) for place in self.places)
        heads = f"{count} heads" if len(numbers) > 1 else "heads " + ", ".join(map(str, *numbers))
        heads = f"mean of {heads}" if count > 1 else f"head {self.places[0].heads[0]}"
        return f"{'layers' if len(self.places) > 1 else 'layer'} {layers}, {heads}, {self.step} step"

    @classmethod
    def from_config(cls, stored: Mapping[str, Any] | None) -> "Reading | None":
        """What `to_config` made, if a bundle stores it; without a step it is the output step."""
        if stored is None:
            return None
        layer, heads, step = stored["layer"], stored["heads"], stored.get("step", "output")
        if isinstance(layer, int):
            return cls.at(layer, heads, step)
        return cls(tuple(LayerHeads(*pair) for pair in zip(layer, map(tuple, heads), strict=True)), step)

    def to_config(self) -> dict[str, Any]:
        """Plain values, as a bundle stores them.

        ``{"layer": 2, "heads": [0, 3], "step": "output"}``, of several layers
        ``{"layer": [1, 2], "heads": [[0, 1], [0, 3]], "step": "output"}``.
        """
        layers, heads = [place.layer for place in self.places], [list(place.heads) for place in self.places]
        if len(self.places) == 1:
            return {"layer": layers[0], "heads": heads[0], "step": self.step}
        return {"layer": layers, "heads": heads, "step": self.step}


def choose_reading(
    heads_of_layers: Sequence[int],
    layer: int | None,
    heads: str | tuple[int, ...] | None,
    best: Reading | None,
    step: str | None = None,
) -> Reading:
    """What the user asked for, else the bundle's best, else the mean over all heads of all layers, output step.

    ``heads_of_layers`` says how many heads each decoder layer has. Numbers of heads alone mean those of the middle
    layer, rounded up (third of four): the last layers prepare the next word, the first have not found their source yet.

    Raises:
        UserError: a layer or head that does not exist, or "best" where no best is known.
    """
    if heads == "best" and best is None:
        raise UserError("this model stores no best heads for alignments; use mean or numbers such as 0,3")
    if best is not None and heads in (None, "best") and layer in (None, *_only_layer(best)):
        return replace(best, step=step or best.step)
    if layer is None and not isinstance(heads, tuple):
        return _all_heads(heads_of_layers, step or "output")
    layer = _middle(heads_of_layers) if layer is None else layer
    if not 0 <= layer < len(heads_of_layers):
        raise UserError(f"there is no decoder layer {layer}; layers go from 0 to {len(heads_of_layers) - 1}")
    n_heads = heads_of_layers[layer]
    if n_heads == 0:
        raise UserError(f"all cross-attention heads of decoder layer {layer} have been pruned: choose another layer")
    chosen = heads if isinstance(heads, tuple) else tuple(range(n_heads))
    for head in chosen:
        if not 0 <= head < n_heads:
            raise UserError(f"decoder layer {layer} has no head {head}; heads go from 0 to {n_heads - 1}")
    return Reading.at(layer, chosen, step or "output")


def _all_heads(heads_of_layers: Sequence[int], step: str) -> Reading:
    layers = [layer for layer, count in enumerate(heads_of_layers) if count]
    if not layers:
        raise UserError("all cross-attention heads have been pruned: there is nothing to read alignments from")
    return Reading.across(heads_of_layers, layers, step)


def _only_layer(reading: Reading) -> tuple[int, ...]:
    return (reading.places[0].layer,) if len(reading.places) == 1 else ()


def _middle(heads_of_layers: Sequence[int]) -> int:
    """The middle layer, rounded up, or the nearest to it that has heads left."""
    middle = len(heads_of_layers) // 2
    with_heads = [layer for layer, heads in enumerate(heads_of_layers) if heads]
    return min(with_heads, key=lambda layer: abs(layer - middle), default=middle)
