"""The pages of docs/ whose examples run: every printed shape, matrix and number is checked."""

import doctest
import re
from pathlib import Path

import pytest
import torch

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize(("page", "least"), [("attention.md", 30), ("inspection.md", 10)])
def test_every_example_prints_what_the_page_says(page: str, least: int) -> None:
    torch.manual_seed(0)

    failures, tried = doctest.testfile(
        str(DOCS / page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )

    assert failures == 0
    assert tried > least


def test_every_link_to_a_file_leads_somewhere() -> None:
    for page in (DOCS.parent / "README.md", *DOCS.glob("*.md")):
        targets = re.findall(r"\]\((?!\w+:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        assert [target for target in targets if not (page.parent / target).exists()] == [], page.name
