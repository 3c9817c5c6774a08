"""Where and how exactly to compute, and what that makes of every figure measured there.

Torch is imported where it is needed: command lines name devices and precisions before anything heavy is loaded.
"""

import ctypes
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from translator.errors import UserError, at_least, one_of

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda")
#: By what the weights are kept in; int8 products keep float32 around them (see `translator.inference.engine.int8`).
PRECISIONS = {"float32": "float32", "bf16": "bfloat16", "fp16": "float16", "int8": "float32"}

#: What mallopt(3) calls what it sets.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def choose_device(device: str, precision: str, threads: int | None) -> "tuple[torch.device, torch.dtype]":
    """Check a device (auto, cpu, cuda) and a precision (float32, bf16, fp16, int8), and set the number of CPU threads.

    Raises:
        UserError: a name is unknown, there is no GPU, or the device cannot do the precision.
    """
    import torch

    one_of("device", device, DEVICES)
    one_of("precision", precision, PRECISIONS)
    if threads is not None:
        at_least("threads", threads, 1)
        torch.set_num_threads(threads)
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device cuda: there is no usable GPU here; use --device cpu or auto")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        keep_freed_memory()
    if device == "cpu" and precision == "fp16":
        raise UserError("precision fp16 needs a GPU; on a CPU use float32 or bf16")
    if device != "cpu" and precision == "int8":
        raise UserError("precision int8 is for the CPU; on a GPU use bf16 or fp16, or add --device cpu")
    return torch.device(device), getattr(torch, PRECISIONS[precision])


def choose_accelerator(asked: str) -> str:
    """The accelerator of a training: cpu or gpu for auto; what was asked for otherwise.

    Raises:
        UserError: a GPU was asked for and there is none.
    """
    import torch

    present = torch.cuda.is_available()
    if asked == "gpu" and not present:
        raise UserError("trainer=gpu: this machine or this build of torch has no GPU; use trainer=cpu or trainer=auto")
    return ("gpu" if present else "cpu") if asked == "auto" else asked


def choose_training_precision(asked: str, accelerator: str) -> str:
    """bf16-mixed for auto where the hardware multiplies bfloat16 natively, else 32-true.

    Emulated bfloat16 is slower than float32, so a CPU without the instructions stays in float32.
    """
    import torch

    if asked != "auto":
        return asked
    if accelerator == "gpu":
        return "bf16-mixed" if torch.cuda.is_bf16_supported(including_emulation=False) else "32-true"
    native = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return "bf16-mixed" if accelerator == "cpu" and native else "32-true"


def keep_freed_memory() -> None:
    """Let the C library keep what is freed for what is allocated next, where it is one that can be told so (glibc).

    A step's tensors are of a few megabytes. By default such memory goes back to the system and comes from it anew, page
    by page, step by step, which takes time; the peak is the same.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, 1 << 30)
        mallopt(_MMAP_THRESHOLD, 1 << 25)


def keep_compiled_products() -> None:
    """Let oneDNN keep what it compiles for the shapes of matrix products; without effect once it has computed.

    In bfloat16 every shape is compiled for itself, some fifty a batch, and batches have many shapes. By default it
    keeps 1,024, so that an epoch of a few dozen shapes forgets the first of them before it comes back to them: a step
    of the tiny model on a CPU with bfloat16 then takes a sixth longer.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")


def surroundings(device: "torch.device") -> dict[str, Any]:
    """Versions, processors and device; without them no measured figure means anything."""
    import torch

    return {
        "versions": {"translator": _own_version(), "torch": torch.__version__, "python": platform.python_version()},
        "threads": torch.get_num_threads(),
        "cpus": os.cpu_count(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
    }


def in_words(around: Mapping[str, Any]) -> str:
    """`surroundings`, or what is known of them: threads, cores, device, versions, such as ``1 thread on 2 cores``."""
    parts = [
        f"{counted(around['threads'], 'thread')} on {counted(around['cpus'], 'core')}" if "threads" in around else "",
        f"{around['device']} ({around['cpu_capability']})" if {"device", "cpu_capability"} <= around.keys() else "",
        *(f"{name} {version}" for name, version in around.get("versions", {}).items() if version),
    ]
    return ", ".join(filter(None, parts))


def counted(count: int, noun: str) -> str:
    """Such as ``1 thread`` or ``2 threads``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _own_version() -> str | None:
    try:
        return metadata.version("translator")
    except metadata.PackageNotFoundError:
        return None
