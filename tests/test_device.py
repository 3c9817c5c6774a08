"""Devices and precisions that are not to be had are refused in one line."""

import os
import platform
import subprocess
import sys

import pytest
import torch

from translator.device import choose_device
from translator.errors import UserError


def test_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto", "float32", None) == (torch.device("cpu"), torch.float32)
    assert choose_device("cpu", "bf16", None) == (torch.device("cpu"), torch.bfloat16)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto", "fp16", None) == (torch.device("cuda"), torch.float16)


@pytest.mark.parametrize(
    ("device", "precision", "threads", "message"),
    [
        ("cuda", "float32", None, "no usable GPU"),
        ("cpu", "fp16", None, "fp16 needs a GPU"),
        ("gpu", "float32", None, "device must be one of auto, cpu, cuda"),
        ("cpu", "fp32", None, "precision must be one of"),
        ("cpu", "float32", 0, "threads must be at least 1"),
    ],
)
def test_refusals(
    monkeypatch: pytest.MonkeyPatch, device: str, precision: str, threads: int | None, message: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=message):
        choose_device(device, precision, threads)


FREED = """
import torch
from translator.device import choose_device

def resident():
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096

choose_device("cpu", "float32", 1)
before = resident()
tensors = [torch.ones(1 << 18) for _ in range(64)]  # a megabyte each
held = resident()
del tensors
print(held - before, resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc keeps to rules of its own")
def test_memory_that_was_freed_stays_at_hand() -> None:
    unset = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True, env=unset)
    held, kept = map(int, done.stdout.split())
    assert held > 50_000_000
    assert kept > 0.9 * held
