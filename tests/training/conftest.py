"""A quiet training library, and no thread count that outlives a test."""

import warnings
from collections.abc import Iterator

import pytest
import torch

from translator.training.trainer import hush_lightning


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    threads = torch.get_num_threads()
    with warnings.catch_warnings():
        hush_lightning()
        yield
    torch.set_num_threads(threads)
