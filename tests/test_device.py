"""Devices and precisions that are not to be had are refused in one line."""

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
