"""Matrix products in 8-bit integers, for decoding on a CPU."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from translator.errors import UserError
from translator.inference.engine.products import replace_products
from translator.model.transformer import Transformer

#: Matrices with fewer weights stay as they are: turning their inputs into integers takes longer than it saves.
LEAST_WEIGHTS = 1 << (15 if torch.cpu._is_vnni_supported() else 17)
_LARGEST = 127


class Int8Linear(nn.Module):
    """y = x W^T + b with W in 8 bits, a scale for each of its rows, and x in 8 bits, a scale for the whole of it.

    Where ``relu``, max(0, y). Dynamic quantisation: the scale of x is taken from x as it comes, so results can differ
    a little with what else is in the batch. For inference on a CPU alone.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, relu: bool = False) -> None:
        """Weight (out, in) and bias (out,) in float32.

        Raises:
            UserError: this build of the library has no 8-bit products.
        """
        super().__init__()
        self.out_features, self.in_features = weight.shape
        kind = torch.ops.quantized
        self._product = kind.linear_relu_dynamic if relu else kind.linear_dynamic
        weight = weight.detach().float()
        scales = weight.abs().amax(dim=1).clamp_min(torch.finfo(torch.float32).tiny) / _LARGEST
        zeros = torch.zeros(len(weight), dtype=torch.long)
        engine, self._narrow_input = _fastest_engine()
        try:
            with warnings.catch_warnings(), _using(engine):
                warnings.simplefilter("ignore")  # the type for quantised tensors is announced to move elsewhere
                integers = torch.quantize_per_channel(weight, scales.double(), zeros, 0, torch.qint8)
            self._packed = torch.ops.quantized.linear_prepack(integers, None if bias is None else bias.detach().float())
        except RuntimeError as error:
            raise UserError("precision int8 is not to be had on this machine: use float32") from error

    def forward(self, x: Tensor) -> Tensor:
        """X (..., in) -> (..., out)."""
        out: Tensor = self._product(x, self._packed, self._narrow_input)
        return out


def _fastest_engine() -> tuple[str, bool]:
    """The library's code that is the fastest on this processor, and whether its input has to do with 7 bits.

    With VNNI or AMX instructions sums of products of 8 bits are formed in 32; without, in 16, which 8 bits overflow.
    """
    return ("onednn", False) if torch.cpu._is_vnni_supported() else (torch.backends.quantized.engine, True)


@contextmanager
def _using(engine: str) -> Iterator[None]:
    """Weights packed meanwhile are in the order that the engine reads."""
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = engine
    try:
        yield
    finally:
        torch.backends.quantized.engine = before


def quantize(model: Transformer) -> None:
    """Compute large matrix products of a model in 8 bits, in place: the vocabulary's, and every large `nn.Linear`.

    Raises:
        UserError: as `Int8Linear`.
    """
    model.projection = Int8Linear(model.output.weight, model.logit_bias())
    replace_products(model, _of_large)


def _of_large(linear: nn.Linear, relu: bool) -> Int8Linear | None:
    return Int8Linear(linear.weight, linear.bias, relu) if linear.weight.numel() >= LEAST_WEIGHTS else None
