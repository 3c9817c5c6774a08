"""Where training runs and how exactly it computes."""

import os

import torch

from translator.errors import UserError


def choose_accelerator(asked: str) -> str:
    """cpu or gpu for auto; what was asked for otherwise.

    Raises:
        UserError: a GPU was asked for and there is none.
    """
    present = torch.cuda.is_available()
    if asked == "gpu" and not present:
        raise UserError("trainer=gpu: this machine or this build of torch has no GPU; use trainer=cpu or trainer=auto")
    return ("gpu" if present else "cpu") if asked == "auto" else asked


def choose_precision(asked: str, accelerator: str) -> str:
    """bf16-mixed for auto where the hardware multiplies bfloat16 natively, else 32-true.

    Emulated bfloat16 is slower than float32, so a CPU without the instructions stays in float32.
    """
    if asked != "auto":
        return asked
    if accelerator == "gpu":
        return "bf16-mixed" if torch.cuda.is_bf16_supported(including_emulation=False) else "32-true"
    native = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return "bf16-mixed" if accelerator == "cpu" and native else "32-true"


def keep_compiled_products() -> None:
    """Let oneDNN keep what it compiles for the shapes of matrix products; without effect once it has computed.

    In bfloat16 every shape is compiled for itself, some fifty a batch, and batches have many shapes. By default it
    keeps 1,024, so that an epoch of a few dozen shapes forgets the first of them before it comes back to them: a step
    of the tiny model on a CPU with bfloat16 then takes a sixth longer.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")
