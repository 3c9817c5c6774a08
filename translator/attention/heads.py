"""Heads one by one: gates, which weaken or close a head and can be taken away again, and pruning, which removes it.

head_i is multiplied by a gate xi_i before W^O, 1 for all in the usual case (Michel 2019, 1905.10650, 2.2; Voita 2019,
1905.09418). A closed head (gate 0) and a removed one give the same output; the removed one costs nothing any more.

Sites are named ``encoder.0``, ``decoder.0``, ``cross.0`` and so on: the kind of attention and the layer.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn

from translator.attention.multihead import CausalSelfAttention, CrossAttention, MultiHeadAttention, SelfAttention
from translator.errors import UserError

KINDS = {"encoder": SelfAttention, "decoder": CausalSelfAttention, "cross": CrossAttention}


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

    A gate is (H,), one number for each head that is left, or (B, H), other numbers for each row of the batch (for each
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

    Raises UserError for a site or head that is not there.
    """
    return {
        site: attention.out_proj.weight.new_tensor([float(number not in heads[site]) for number in attention.kept])
        for site, attention in _checked(model, heads).items()
    }


def prune(model: nn.Module, heads: Mapping[str, Collection[int]]) -> None:
    """Remove heads, by site and original number, from a model's weights.

    The parameters are new objects afterwards: make the optimizer later than this. Raises UserError for a site or head
    that is not there; nothing has been removed then.
    """
    for site, attention in _checked(model, heads).items():
        prune_attention(attention, heads[site])


def _checked(model: nn.Module, heads: Mapping[str, Collection[int]]) -> dict[str, MultiHeadAttention]:
    """The attention of each site in ``heads``, in the order of the model; all their heads are there."""
    sites = attentions(model)
    for site, numbers in heads.items():
        if site not in sites:
            raise UserError(f"there is no attention {site!r}; there are {', '.join(sites)}")
        for number in numbers:
            if number not in sites[site].kept:
                left = ", ".join(map(str, sites[site].kept)) or "none"
                raise UserError(f"{site} has no head {number}; its heads are {left}")
    return {site: attention for site, attention in sites.items() if site in heads}


def prune_attention(attention: MultiHeadAttention, heads: Collection[int]) -> None:
    """Remove heads, by original number, from one attention.

    Their rows of the query projection and their columns of the output projection go, and with the last query head
    that reads it a key/value head goes, too. All heads may go: what is left then is the bias of the output
    projection.
    """
    left = [place for place, number in enumerate(attention.kept) if number not in heads]
    query_heads = torch.tensor(left, dtype=torch.long, device=attention.head_to_kv.device)
    readers = attention.head_to_kv[query_heads]  # (H,) old numbers of key/value heads
    kv_heads = readers.unique()  # (G,) ascending
    for linear, dim, kept in (
        (attention.q_proj, 0, query_heads),
        (attention.k_proj, 0, kv_heads),
        (attention.v_proj, 0, kv_heads),
        (attention.out_proj, 1, query_heads),
    ):
        change_heads(linear, dim, attention.head_dim, partial(torch.index_select, dim=dim, index=kept))
    attention.head_to_kv = torch.searchsorted(kv_heads, readers)
    attention.n_heads, attention.n_kv_heads = len(left), len(kv_heads)
    attention.kept = tuple(attention.kept[place] for place in left)


@torch.no_grad()
def change_heads(linear: nn.Linear, dim: int, head_dim: int, change: Callable[[Tensor], Tensor]) -> None:
    """Put other heads in a projection, among its outputs (``dim`` 0, with their biases) or its inputs (1).

    ``change`` takes parameters with the heads as dimension ``dim``, (G, Dh, ...) or (..., H, Dh), and gives others of
    this kind. The parameters are new objects afterwards.
    """
    for name in ("weight", "bias") if dim == 0 else ("weight",):
        old = getattr(linear, name)
        new = change(old.unflatten(dim, (-1, head_dim))).flatten(dim, dim + 1)
        setattr(linear, name, nn.Parameter(new, requires_grad=old.requires_grad))
    linear.out_features, linear.in_features = linear.weight.shape
