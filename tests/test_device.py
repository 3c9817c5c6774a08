"""Devices and precisions that are not to be had are refused in one line."""

import os
import platform
import subprocess
import sys

import pytest
import torch

from translator.device import place
from translator.errors import UserError


def test_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert place("auto", "float32", None) == (torch.device("cpu"), torch.float32)
    assert place("cpu", "bf16", None) == (torch.device("cpu"), torch.bfloat16)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert place("auto", "fp16", None) == (torch.device("cuda"), torch.float16)


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
        place(device, precision, threads)


REUSE = """
import resource, torch
from translator.device import place
place("cpu", "float32", 1)
faults = []
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(5_000_000)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(*faults)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc keeps to rules of its own")
def test_memory_that_was_freed_is_used_again() -> None:
    unset = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", REUSE], capture_output=True, text=True, check=True, env=unset)
    first, *_, last = map(int, done.stdout.split())
    assert last < first / 10  # pages that had to come from the system
