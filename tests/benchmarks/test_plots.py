"""The picture of growth."""

from pathlib import Path

import pytest

from benchmarks.plots import draw_growth, name_of
from tests.benchmarks import rows
from translator.errors import UserError


def test_series_are_told_apart_by_name() -> None:
    assert name_of(rows.growth(8, 1.0)) == "cache, batch 8, beam 1, 8 kv heads"
    assert name_of(rows.growth(8, 1.0, cache=False, beam=5)) == "no cache, batch 8, beam 5, 8 kv heads"


def test_a_picture_is_written(tmp_path: Path) -> None:
    draw_growth([rows.growth(n, ms, cache=c) for n, ms, c in ((8, 1, True), (32, 1, True), (8, 9, False))],
                tmp_path / "g.png")  # fmt: skip
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot write the picture .*nowhere/g.png: No such file"):
        draw_growth([rows.growth(8, 1.0)], tmp_path / "nowhere/g.png")
