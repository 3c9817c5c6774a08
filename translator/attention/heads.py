"""Heads one by one: gates, which weaken or close a head and can be taken away again, and pruning, which removes it.

head_i is multiplied by a gate xi_i before W^O, 1 for all in the usual case (Michel 2019, 1905.10650, 2.2; Voita 2019,
1905.09418). A closed head (gate 0) and a removed one give the same output; the removed one costs nothing any more.

Sites are named ``encoder.0``, ``decoder.0``, ``cross.0`` and so on: the kind of attention and the layer.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from translator.attention.multihead import CausalSelfAttention, CrossAttention, MultiHeadAttention, SelfAttention
from translator.errors import UserError

KINDS: dict[str, type[MultiHeadAttention]] = {
    "encoder": SelfAttention,
    "decoder": CausalSelfAttention,
    "cross": CrossAttention,
}


def attentions(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """All attention of a model by site: the encoder's, then the decoder's two kinds, first layer first."""
    return {
        f"{name}.{layer}": module
        for name, kind in KINDS.items()
        for layer, module in enumerate(m for m in model.modules() if isinstance(m, kind))
    }


@contextmanager
def gated(model: nn.Module, gates: Mapping[str, Tensor]) -> Iterator[None]:
    """Multiply the heads' outputs by gates, by site, inside the ``with`` block; sites without gates are left alone.

    A gate is (H,), one number a head that is there, or (B, H) with a line of its own for every row of the batch (every
    sentence, where cross-attention serves several beams). Gradients flow into it. Gates that were set before are
    restored on the way out.
    """
    sites = attentions(model)
    before = {site: sites[site].gates for site in gates}
    for site, gate in gates.items():
        sites[site].gates = gate
    try:
        yield
    finally:
        for site, gate_before in before.items():
            sites[site].gates = gate_before


def closing(model: nn.Module, heads: Mapping[str, Collection[int]]) -> dict[str, Tensor]:
    """Gates for `gated`: 0 for the given heads, by site and original number, and 1 for the others of their sites.

    Raises:
        UserError: a site or head that is not there.
    """
    gates = {}
    for site, attention in _found(model, heads).items():
        weight = attention.out_proj.weight
        open_ = [float(number not in heads[site]) for number in attention.kept]
        gates[site] = torch.tensor(open_, dtype=weight.dtype, device=weight.device)
    return gates


def prune(model: nn.Module, heads: Mapping[str, Collection[int]]) -> None:
    """Remove heads, by site and original number, from a model's weights.

    The parameters are new objects afterwards: make the optimizer later than this.

    Raises:
        UserError: a site or head that is not there; nothing has been removed then.
    """
    for site, attention in _found(model, heads).items():
        prune_attention(attention, heads[site])


@torch.no_grad()
def prune_attention(attention: MultiHeadAttention, heads: Collection[int]) -> None:
    """Remove heads, by original number, from one attention.

    Their rows of the query projection and their columns of the output projection go, and with the last query head
    that reads it a key/value head goes, too. All heads may go: what is left then is the bias of the output
    projection.
    """
    places = [place for place, number in enumerate(attention.kept) if number not in heads]
    device = attention.head_to_kv.device
    readers = attention.head_to_kv[torch.tensor(places, dtype=torch.long, device=device)]  # (H,) old kv numbers
    groups = readers.unique()  # (G,) ascending
    rows = _features(places, attention.head_dim)
    kv_rows = _features(groups.tolist(), attention.head_dim)
    for linear, kept in ((attention.q_proj, rows), (attention.k_proj, kv_rows), (attention.v_proj, kv_rows)):
        _keep_rows(linear, kept)
    _keep_columns(attention.out_proj, rows)
    attention.head_to_kv = torch.searchsorted(groups, readers)
    attention.n_heads, attention.n_kv_heads = len(places), len(groups)
    attention.kept = tuple(attention.kept[place] for place in places)


def _found(model: nn.Module, heads: Mapping[str, Collection[int]]) -> dict[str, MultiHeadAttention]:
    """The attention of each site, in the order of the model, checked."""
    sites = attentions(model)
    for site, numbers in heads.items():
        if site not in sites:
            raise UserError(f"there is no attention {site!r}; there are {', '.join(sites)}")
        for number in numbers:
            if number not in sites[site].kept:
                left = ", ".join(map(str, sites[site].kept)) or "none"
                raise UserError(f"{site} has no head {number}; its heads are {left}")
    return {site: attention for site, attention in sites.items() if site in heads}


def _features(heads: list[int], head_dim: int) -> Tensor:
    """Places of the heads' features in a projection (len(heads) * Dh,)."""
    starts = torch.tensor(heads, dtype=torch.long)[:, None] * head_dim
    return (starts + torch.arange(head_dim)).flatten()


def _keep_rows(linear: nn.Linear, rows: Tensor) -> None:
    """Keep some outputs of a projection."""
    linear.weight = _part(linear.weight, 0, rows)
    if linear.bias is not None:
        linear.bias = _part(linear.bias, 0, rows)
    linear.out_features = len(rows)


def _keep_columns(linear: nn.Linear, columns: Tensor) -> None:
    """Keep some inputs of a projection."""
    linear.weight = _part(linear.weight, 1, columns)
    linear.in_features = len(columns)


def _part(parameter: Tensor, dim: int, kept: Tensor) -> nn.Parameter:
    chosen = parameter.index_select(dim, kept.to(parameter.device))
    return nn.Parameter(chosen, requires_grad=parameter.requires_grad)
