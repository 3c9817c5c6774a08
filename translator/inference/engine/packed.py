"""Matrix products in bfloat16 over weights laid out as a CPU reads them, for decoding."""

from functools import cache

import torch
from torch import Tensor, nn

from translator.inference.engine.products import replace_products
from translator.model.transformer import Transformer


class PackedLinear(nn.Module):
    """y = x W^T + b in bfloat16, then max(0, y) where ``relu``, with W laid out once and not in every call.

    Worth a quarter of a product over many rows and half of one over few; for inference on a CPU alone.
    """

    bias: Tensor | None
    packed: Tensor

    def __init__(self, weight: Tensor, bias: Tensor | None, relu: bool = False) -> None:
        """Weight (out, in) and bias (out,) in bfloat16."""
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.after = "relu" if relu else "none"
        self.register_buffer("packed", torch.ops.mkldnn._reorder_linear_weight(weight.detach()), persistent=False)
        self.register_buffer("bias", None if bias is None else bias.detach(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """X (..., in) -> (..., out)."""
        out: Tensor = _product()(x, self.packed, self.bias, self.after)
        return out


def can_pack() -> bool:
    """Whether this processor and this build of the library have such products; others than these are not tried."""
    return torch.cpu._is_avx512_supported() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def pack(model: Transformer) -> None:
    """Lay out the weights of a model in bfloat16, in place: the vocabulary's, and those of every `nn.Linear`."""
    model.projection = PackedLinear(model.output.weight, model.logit_bias())
    replace_products(model, lambda linear, relu: PackedLinear(linear.weight, linear.bias, relu))


@cache
def _product() -> torch.jit.ScriptFunction:  # type: ignore[type-arg]
    """The library's product, in a form that recordings can hold (`translator.inference.engine.recorded`)."""
    return torch.jit.script(_linear)


def _linear(x: Tensor, packed: Tensor, bias: Tensor | None, after: str) -> Tensor:
    out: Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, after, [], "")
    return out
