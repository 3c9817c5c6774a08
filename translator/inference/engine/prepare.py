"""The door to the engine: models as they are used, in the precision asked for, for good where nobody changes them."""

from typing import Any

import torch

from translator.decoding.interface import Searchable
from translator.inference.engine.int8 import quantize
from translator.inference.engine.packed import pack
from translator.inference.engine.private_torch import multiplies_bfloat16
from translator.inference.engine.recorded import record
from translator.model.transformer import Transformer


def prepare(model: Transformer, precision: str, device: torch.device, dtype: torch.dtype) -> Transformer:
    """The model on its device, in place; ``dtype`` is that of the weights of a ``precision`` (`translator.device`).
    Raises UserError where the precision is not to be had on this machine.
    """
    if precision == "int8":
        quantize(model)
    return model.to(device=device, dtype=dtype)


def freeze(model: Transformer, precision: str, device: torch.device, dtype: torch.dtype) -> Searchable[Any]:
    """As `prepare`, for a model that nobody changes any more -> what to search with.

    Projections of one input are one product; on a CPU, weights in bfloat16 are packed and searches are recorded.
    """
    model.join_projections()
    prepare(model, precision, device, dtype)
    if device.type == "cpu" and dtype == torch.bfloat16 and multiplies_bfloat16():
        pack(model)
    return record(model)
