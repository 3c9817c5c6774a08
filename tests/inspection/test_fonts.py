"""Fonts are found for every script that one is installed for; the others are told of, once."""

import warnings
from pathlib import Path

import pytest
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font

from translator.inspection.fonts import USUAL, font_families
from translator.inspection.plots import save

MATHEMATICAL = "STIXGeneral"  # comes with matplotlib, and has characters that the usual font lacks


@pytest.fixture
def no_more_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No font but the usual one is known or installed, and the one of boxes that comes with matplotlib."""
    usual = [entry for entry in font_manager.fontManager.ttflist if entry.name.startswith((USUAL, "Last Resort"))]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", usual)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)


def lacking() -> str:
    """A character that the mathematical font alone has."""
    codes = [FT2Font(font_manager.findfont(name)).get_charmap().keys() for name in (MATHEMATICAL, USUAL)]
    return next(chr(code) for code in sorted(codes[0] - codes[1]) if chr(code).isprintable())


def test_the_usual_font_is_enough_for_the_usual_text(no_more_fonts: None) -> None:
    assert font_families("Straße ▁ это") == [USUAL]


def test_a_known_font_fills_in(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    char = lacking()
    entries = [entry for entry in font_manager.fontManager.ttflist if entry.name == MATHEMATICAL]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", entries)
    assert font_families("a" + char) == [USUAL, MATHEMATICAL]
    assert caplog.text == ""


def test_a_font_installed_since_matplotlib_looked_fills_in(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    char = lacking()
    path = font_manager.findfont(MATHEMATICAL)  # upright, whichever file of the family a directory lists first
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [])
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: ["/nowhere/broken.ttf", path])
    assert font_families("a" + char) == [USUAL, MATHEMATICAL]
    assert caplog.text == ""


def test_what_no_font_has_is_told_in_one_line(no_more_fonts: None, caplog: pytest.LogCaptureFixture) -> None:
    assert font_families("你好 a กข 🧪\n") == [USUAL]
    assert len(caplog.messages) == 1
    assert "no installed font shows THAI (ก), CJK (你), symbols (🧪): the picture has boxes" in caplog.messages[0]
    assert "fonts-noto-cjk" in caplog.messages[0]


def test_matplotlib_adds_no_warnings_of_its_own(tmp_path: Path, no_more_fonts: None) -> None:
    figure = Figure()
    figure.text(0.5, 0.5, "你好")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
