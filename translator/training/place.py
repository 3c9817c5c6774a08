"""Where training runs and how exactly it computes."""

import ctypes
import logging
import sys

import torch

from translator.errors import UserError

logger = logging.getLogger("translator")

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h


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


def keep_freed_memory() -> None:
    """Ask the C library to reuse freed memory: a step frees and takes the same megabytes again and again.

    Without this, glibc gives them back to the kernel each time, and a CPU step spends a large part of its time on
    page faults. Other C libraries are left alone.
    """
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "gnu_get_libc_version"):
        libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(_M_MMAP_THRESHOLD, 2**30)
