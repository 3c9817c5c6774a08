"""The pages of docs/ whose examples run: every printed shape, matrix and number is checked."""

import doctest
from pathlib import Path

import torch

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_every_example_about_attention_prints_what_the_page_says() -> None:
    torch.manual_seed(0)

    failures, tried = doctest.testfile(
        str(DOCS / "attention.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )

    assert failures == 0
    assert tried > 30
