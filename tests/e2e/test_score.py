"""Forced scoring from files."""

from pathlib import Path
from types import ModuleType

import pytest

from tests import toy
from tests.scripts import load
from translator.inference.translator import Translator

PROBE = toy.sentences(11, seed=61)


@pytest.fixture
def script() -> ModuleType:
    return load("score")


def test_a_number_a_line_that_agrees_with_the_search(
    script: ModuleType,
    toy_bundle: Path,
    toy_translator: Translator,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    found = toy_translator.translate(PROBE, length_penalty=0.0)
    source.write_text("\n".join([*PROBE, "", "su", ""]) + "\n")
    target.write_text("\n".join([*(t.text for t in found), "DI", "", ""]) + "\n")

    flags = ["-m", str(toy_bundle), "--source", str(source), "--target", str(target)]
    assert script.main(flags) == 0

    scores = [float(line) for line in capfd.readouterr().out.split("\n")[:-1]]
    assert len(scores) == 14
    assert all(-1000 < score < 0 for score in scores)
    tokenizer = toy_translator.tokenizer
    same = [i for i, t in enumerate(found) if tokenizer.pieces(tokenizer.encode(t.text)) == t.tokens]
    assert len(same) > 8
    assert [scores[i] for i in same] == pytest.approx([found[i].score for i in same], abs=1e-4)


def test_mistakes_are_one_line(
    script: ModuleType, toy_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("su\nlu\n")
    target.write_text("DI\n")

    flags = ["-m", str(toy_bundle), "--source", str(source), "--target", str(target)]
    assert script.main(flags) == 2
    assert script.main(["--source", str(source)]) == 2
    first, second = capfd.readouterr().err.split("\n")[:-1]
    assert first == f"score.py: error: {source} has 2 lines but {target} has 1"
    assert "required: -m/--model, --target" in second
