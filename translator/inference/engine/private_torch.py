"""What the engine uses of torch that torch does not document; as of version 2.13, with which it was checked."""

from functools import cache
from typing import Any

import torch
from torch import Tensor


def sums_bytes_in_32_bits() -> bool:
    """Whether this processor forms sums of products of 8 bits in 32 (VNNI, AMX); else in 16, which 8 bits overflow."""
    return torch.cpu._is_vnni_supported()


def multiplies_bfloat16() -> bool:
    """Whether this processor and this build have `reordered` and `linear`; no other processors are tried."""
    return torch.cpu._is_avx512_supported() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def reordered(weight: Tensor) -> Tensor:
    """A weight (out, in) in bfloat16, laid out as `linear` reads it."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight)
    return packed


@cache
def linear() -> torch.jit.ScriptFunction:  # type: ignore[type-arg]
    """The product of x, a `reordered` weight and a bias, then "relu" or "none", in a form that recordings can hold."""

    def product(x: Tensor, packed: Tensor, bias: Tensor | None, after: str) -> Tensor:
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, after, [], "")
        return out

    return torch.jit.script(product)


def drop_whole_slices(recording: torch.jit.ScriptModule) -> None:
    """Take out slices that keep all: the recorder writes one for every ``:``, a quarter of what a step consists of."""
    graph: Any = recording.graph
    for node in graph.findAllNodes("aten::slice"):
        whole, _, start, stop, stride = node.inputs()
        if start.toIValue() in (0, None) and (stop.toIValue(), stride.toIValue()) == (2**63 - 1, 1):
            node.output().replaceAllUsesWith(whole)
            node.destroy()
