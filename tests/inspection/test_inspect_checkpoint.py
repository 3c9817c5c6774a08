"""The script: results on stdout, files as asked, mistakes in one line."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripts import load
from translator.files import write_json


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load("inspect_checkpoint")


def test_a_checkpoint_is_described(script: ModuleType, flat_bundle: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert script.main([str(flat_bundle)]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("aa to bb, ")
    assert out.endswith("none: the training has not finished\n")
    assert err == ""
    scores = {"bleu": 31.4, "signature": {"bleu": "BLEU|x"}}
    try:
        write_json(flat_bundle / "metrics.json", {"test": scores})
        assert script.main([str(flat_bundle)]) == 0
    finally:
        (flat_bundle / "metrics.json").unlink()
    assert capfd.readouterr().out.splitlines()[-1].split() == ["test", "bleu", "31.40", "BLEU|x"]


def test_attention_is_shown_drawn_and_written(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    picture, values = tmp_path / "a.png", tmp_path / "a.json"
    pair = ["--source", "ko di $no$", "--target", "ME NOTI", "--layer", "0", "--heads", "1,3"]
    assert script.main([str(flat_bundle), "align", *pair, "--png", str(picture), "--json", str(values)]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[:2] == ["ko di $no$", "ME NOTI"]
    assert "layer 0, mean of heads 1, 3" in out
    assert err == ""
    assert picture.read_bytes().startswith(b"\x89PNG")
    written = json.loads(values.read_text(encoding="utf-8"))
    assert (written["layer"], written["heads"], len(written["cross_attention"])) == (0, [1, 3], 2)
    assert script.main([str(flat_bundle), "align", *pair, "--json", "-"]) == 0
    assert json.loads(capfd.readouterr().out) == written


def test_a_piece_is_read_at_the_step_that_is_asked_for(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pair = [str(flat_bundle), "align", "--source", "ko di", "--target", "ME NOTI", "--html", str(tmp_path / "a")]
    assert script.main(pair) == 0
    written = capfd.readouterr().out
    assert "as each piece is written" in written
    assert '"step":"output"' in (tmp_path / "a").read_text(encoding="utf-8")
    assert script.main([*pair, "--step", "input"]) == 0
    read = capfd.readouterr().out
    assert "as each piece is read" in read
    assert '"step":"input"' in (tmp_path / "a").read_text(encoding="utf-8")
    last, before = (text.splitlines()[-1].split()[0] for text in (written, read))
    assert (last, before) == ("</s>", "TI")  # the last step writes the one and reads the other


def test_several_pairs_make_one_page(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.html"
    pairs = ["--source", "ko di", "--target", "ME NOTI", "--source", "<b>lu</b>", "--target", "rabame"]
    assert script.main([str(flat_bundle), "align", *pairs, "--html", str(page), "--json", str(tmp_path / "a")]) == 0
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert lines[:2] == ["ko di", "ME NOTI"]
    assert lines[lines.index("<b>lu</b>") - 1] == ""
    assert err == ""
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "Attention of flat" in text
    assert '"languages":["aa","bb"]' in text
    assert "<b>lu" not in text
    assert [json.loads(line)["target"] for line in (tmp_path / "a").read_text().splitlines()] == ["ME NOTI", "rabame"]
    assert script.main([str(flat_bundle), "align", *pairs, "--html", "-"]) == 0
    assert capfd.readouterr().out == text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["align", "--source", "ko", "--target", "ME", "--layer", "7"], "no decoder layer 7; layers go from 0 to 1"),
        (["align", "--source", "ko", "--heads", "0,x"], "'0,x' is neither mean nor best nor numbers"),
        (["align", "--source", "ko", "--step", "both"], "--step: invalid choice: 'both'"),
        (["align", "--source", " "], "the source is blank"),
        (["align"], "the following arguments are required: --source"),
        (["align", "--source", "a", "--pgn", "x"], "did you mean '--png'"),
        (["align", "--source", "a", "--target", "b", "--json", "nowhere/x.json"], "nowhere/x.json: No such file"),
        (["align", "--source", "a", "--target", "b", "--html", "nowhere/x.html"], "nowhere/x.html: No such file"),
        (["align", "--source", "a", "--source", "b", "--target", "c"], "2 --source but 1 --target: give each source"),
        (["align", "--source", "a", "--source", "b", "--png", "x.png"], "a picture shows one pair: leave out --png"),
    ],
)
def test_mistakes_are_one_line(
    script: ModuleType, flat_bundle: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert script.main([str(flat_bundle), *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert expected in err
    assert err.count("\n") == 1


def test_a_folder_that_is_no_checkpoint_is_named(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert script.main([str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capfd.readouterr().err
