"""Models as they are used: in the precision asked for, and laid out for it where nobody changes them any more."""

import torch

from translator.inference.engine.int8 import quantize
from translator.inference.engine.packed import can_pack, pack
from translator.model.transformer import Transformer


def prepare(model: Transformer, precision: str, device: torch.device, dtype: torch.dtype) -> Transformer:
    """The model on its device, in place; ``dtype`` is that of the weights of a ``precision`` (`translator.device`).

    Raises:
        UserError: the precision is not to be had on this machine.
    """
    if precision == "int8":
        quantize(model)
    return model.to(device=device, dtype=dtype)


def prepare_frozen(model: Transformer, precision: str, device: torch.device, dtype: torch.dtype) -> Transformer:
    """As `placed`; projections of one input are one product, and on a CPU weights in bfloat16 are packed."""
    model.join_projections()
    model = prepare(model, precision, device, dtype)
    if device.type == "cpu" and dtype == torch.bfloat16 and can_pack():
        pack(model)
    return model
