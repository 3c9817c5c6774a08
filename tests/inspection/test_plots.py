"""Pictures show what they are given, in any script, and never read text as a formula."""

from pathlib import Path

import pytest
import torch
from matplotlib.image import imread

from translator.alignment.reading import Reading
from translator.errors import UserError
from translator.inspection.pair import PairAttention
from translator.inspection.plots import draw_attention


def pair(source: list[str], target: list[str], weight: float = 0.5, heads: tuple[int, ...] = (3, 2)) -> PairAttention:
    layers = [torch.full((count, len(target), len(source)), weight) for count in heads]
    return PairAttention(" ".join(source), " ".join(target), source, target, layers, Reading.at(1, (0,)), [])


def test_a_picture_is_written_whatever_its_name_ends_in(tmp_path: Path) -> None:
    draw_attention(pair(["a", "b"], ["c"]), tmp_path / "picture")
    assert (tmp_path / "picture").read_bytes().startswith(b"\x89PNG")


def test_weights_show_in_the_picture(tmp_path: Path) -> None:
    for weight in (0.1, 0.9):
        draw_attention(pair(["a", "b"], ["c"], weight), tmp_path / f"{weight}.png")
    light, dark = (imread(tmp_path / f"{weight}.png")[..., :3].mean() for weight in (0.1, 0.9))
    assert light > dark + 0.1


def test_text_is_never_read_as_a_formula(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    texts = ["$x^2$", "$\\frac{1}$", "a$", "\\alpha", "_^{", "это", "ä%#&"]
    draw_attention(pair(texts, texts), tmp_path / "a.png")
    assert caplog.text == ""


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot write the picture .*nowhere/a.png: No such file"):
        draw_attention(pair(["a"], ["b"]), tmp_path / "nowhere/a.png")
