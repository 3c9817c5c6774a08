"""What people call a head: ``dec.cross.3:5`` is head 5 in the cross-attention of decoder layer 3, all from 0.

Numbers are those that the heads had before any was pruned, so a name means the same head for ever.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import nn

from translator.attention.heads import attentions
from translator.errors import UserError

#: Name of each kind of attention, by its name in sites such as ``encoder.0``.
NAMES = {"encoder": "enc.self", "decoder": "dec.self", "cross": "dec.cross"}
_KINDS = {name: kind for kind, name in NAMES.items()}
_FORM = re.compile(r"(enc\.self|dec\.self|dec\.cross)\.(\d+):(\d+(?:,\d+)*)", re.ASCII)


class Head(NamedTuple):
    """One attention head; ``kind`` is encoder, decoder or cross."""

    kind: str
    layer: int
    number: int

    @property
    def site(self) -> str:
        """Where it is: ``cross.3``."""
        return f"{self.kind}.{self.layer}"

    def __str__(self) -> str:
        return f"{NAMES[self.kind]}.{self.layer}:{self.number}"


def places(model: nn.Module) -> dict[Head, int]:
    """All heads that are there, and the place of each among those left at its site, from 0.

    The encoder's come first, then the decoder's two kinds, first layer first.
    """
    found: dict[Head, int] = {}
    for site, attention in attentions(model).items():
        kind, _, layer = site.partition(".")
        found |= {Head(kind, int(layer), number): place for place, number in enumerate(attention.kept)}
    return found


def heads_of(model: nn.Module) -> list[Head]:
    """All heads that are there, in the order of `places`."""
    return list(places(model))


def parse_heads(texts: Iterable[str], model: nn.Module) -> list[Head]:
    """Heads of ``model`` from names such as ``enc.self.0:1,3``, in the model's order, each once.

    Raises:
        UserError: a name of another form, or of a layer or head that is not there.
    """
    there = heads_of(model)
    named: set[Head] = set()
    for text in texts:
        form = _FORM.fullmatch(text)
        if form is None:
            raise UserError(
                f"{text!r} names no heads: write KIND.LAYER:HEAD,HEAD, such as dec.cross.3:0,5, "
                f"where KIND is {', '.join(_KINDS)}"
            )
        kind, layer = _KINDS[form[1]], int(form[2])
        named |= {_one(Head(kind, layer, int(number)), there) for number in form[3].split(",")}
    return [head for head in there if head in named]


def _one(head: Head, there: list[Head]) -> Head:
    if head in there:
        return head
    numbers = ", ".join(str(other.number) for other in there if other.site == head.site)
    last = max((other.layer for other in there if other.kind == head.kind), default=0)
    if head.layer > last:
        raise UserError(f"{head}: there is no such layer; {NAMES[head.kind]} has layers 0 to {last}")
    raise UserError(f"{head}: there is no such head; those of {NAMES[head.kind]}.{head.layer} are {numbers or 'gone'}")


def by_site(heads: Iterable[Head]) -> dict[str, list[int]]:
    """Numbers of heads by site, as `translator.attention.heads` takes them."""
    sites: dict[str, list[int]] = {}
    for head in heads:
        sites.setdefault(head.site, []).append(head.number)
    return {site: sorted(numbers) for site, numbers in sites.items()}


def listed(heads: Sequence[Head]) -> str:
    """Heads in the form that `parse_heads` reads, sites separated by spaces."""
    groups = by_site(heads)
    kinds = {head.site: f"{NAMES[head.kind]}.{head.layer}" for head in heads}
    return " ".join(f"{kinds[site]}:{','.join(map(str, numbers))}" for site, numbers in groups.items())
