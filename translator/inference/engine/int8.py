"""Matrix products in 8-bit integers, for decoding on a CPU."""

import warnings

import torch
from torch import Tensor, nn

from translator.errors import UserError
from translator.inference.engine.private_torch import sums_bytes_in_32_bits
from translator.inference.engine.products import replace_products
from translator.model.transformer import Transformer

#: Matrices with fewer weights stay as they are: turning their inputs into integers takes longer than it saves.
LEAST_WEIGHTS = 1 << (15 if sums_bytes_in_32_bits() else 17)


class Int8Linear(nn.Module):
    """y = x W^T + b with W in 8 bits, a scale for each of its rows, and x in 8 bits, a scale for the whole of it.

    Where ``relu``, max(0, y). Dynamic quantisation: the scale of x is taken from x as it comes, so results can differ
    a little with what else is in the batch. For inference on a CPU alone.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, relu: bool = False) -> None:
        """Weight (out, in) and bias (out,) in float32. Raises UserError where torch has no 8-bit products here."""
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self._product = torch.ops.quantized.linear_relu_dynamic if relu else torch.ops.quantized.linear_dynamic
        self._narrow_input = not sums_bytes_in_32_bits()  # to 7 bits
        weight = weight.detach().float()
        scales = weight.abs().amax(dim=1).clamp_min(torch.finfo(torch.float32).tiny) / 127
        zeros = torch.zeros(len(weight), dtype=torch.long)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the type for quantised tensors is announced to move elsewhere
                integers = torch.quantize_per_channel(weight, scales.double(), zeros, 0, torch.qint8)
            self._packed = torch.ops.quantized.linear_prepack(integers, None if bias is None else bias.detach().float())
        except RuntimeError as error:
            raise UserError("precision int8 is not to be had on this machine: use float32") from error

    def forward(self, x: Tensor) -> Tensor:
        """X (..., in) -> (..., out)."""
        out: Tensor = self._product(x, self._packed, self._narrow_input)
        return out


def quantize(model: Transformer) -> None:
    """Compute large matrix products of a model in 8 bits, in place: the vocabulary's, and every large `nn.Linear`.

    Raises UserError as `Int8Linear`.
    """
    replace_products(model, Int8Linear, LEAST_WEIGHTS)
