"""Devices and precisions that are not to be had are refused in one line."""

import os
import platform
import subprocess
import sys

import pytest
import torch

from translator.device import choose_device, in_words, surroundings
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


def test_figures_come_with_what_they_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    here = surroundings(torch.device("cpu"))
    assert (here["threads"], here["cpus"], here["device"]) == (torch.get_num_threads(), os.cpu_count(), "cpu")
    assert here["versions"] | {"torch": torch.__version__, "python": platform.python_version()} == here["versions"]
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")
    assert surroundings(torch.device("cuda", 1))["device"] == "GPU 1"


def test_what_is_known_of_a_place_is_put_in_words() -> None:
    versions = {"translator": None, "torch": "3.4"}
    known = {"versions": versions, "threads": 1, "cpus": 8, "cpu_capability": "AVX9", "device": "cpu"}
    assert in_words(known) == "1 thread on 8 cores, cpu (AVX9), torch 3.4"
    assert in_words({"threads": 2, "cpus": 1}) == "2 threads on 1 core"
    assert in_words({}) == ""


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
