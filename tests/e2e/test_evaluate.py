"""Evaluating a checkpoint: its own data or any files, scores that the sacrebleu command confirms, nothing lost."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from tests import toy
from translator.bundle import read_config
from translator.cli.evaluate import evaluate as scored
from translator.errors import UserError
from translator.files import write_json
from translator.inference.translator import Translator

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/evaluate.py"
SOURCES = [*toy.sentences(23, seed=3), ""]
REFERENCES = [toy.expected(line) for line in SOURCES[:-1]] + ["nothing to see"]
REFERENCES[3] = ""

Result = subprocess.CompletedProcess[str]
Evaluate = Callable[..., Result]


def write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


@pytest.fixture
def bundle(flat_bundle: Path, tmp_path: Path) -> Path:
    """A bundle in a folder of awkward characters, which remembers files to be tested on."""
    directory = shutil.copytree(flat_bundle, tmp_path / "run/epoch=3 [1], (ä)@b#c%r")
    write(tmp_path / "data/x.aa", SOURCES)
    write(tmp_path / "data/x.bb", REFERENCES)
    files = [str(tmp_path / "data/x.aa"), str(tmp_path / "data/x.bb")]
    data = {"kind": "files", "source": "aa", "target": "bb", "train": None, "valid": None, "test": files}
    write_json(directory / "config.json", {**read_config(directory), "data": data})
    return directory


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    def call(*overrides: str) -> Result:
        command = [sys.executable, str(SCRIPT), *overrides]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)

    return call


def printed(result: Result) -> dict[str, Any]:
    """The one JSON object of a run that went well."""
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    values = json.loads(result.stdout)
    assert isinstance(values, dict)
    return values


def test_its_own_data_is_scored_as_the_sacrebleu_command_scores_it(
    evaluate: Evaluate, bundle: Path, tmp_path: Path
) -> None:
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    found = printed(result := evaluate(f"checkpoint={bundle.relative_to(tmp_path)}"))
    written = tmp_path / found["hypotheses"]
    assert sorted({path for path in tmp_path.rglob("*") if path.is_file()} - set(before)) == [written]
    assert not (tmp_path / "outputs").exists()

    lines = written.read_bytes().decode().split("\n")
    assert lines == [*[t.text for t in Translator.load(bundle).translate(SOURCES)], ""]
    command = [sys.executable, "-m", "sacrebleu", "data/x.bb", "-i", str(written), "-w", "4", "-m", "bleu", "chrf"]
    scores = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout)
    assert [found["bleu"], found["chrf"]] == pytest.approx([score["score"] for score in scores], abs=0.005)
    assert found["signature"].keys() == {"bleu", "bleu_lowercased", "chrf", "ter"}
    assert (found["sentences"], found["empty_hypotheses"], found["empty_references"]) == (24, 1, 1)
    assert found["sentences_per_second"] == pytest.approx(24 / found["seconds"])
    for told in ("BLEU", f"{found['chrf']:.2f}", "nrefs:1", "24 sentences"):
        assert told in result.stderr


def test_other_files_are_scored_in_the_languages_of_the_checkpoint(
    evaluate: Evaluate, bundle: Path, tmp_path: Path
) -> None:
    source = write(tmp_path / "new/a (1).txt", SOURCES[:5])
    reference = write(tmp_path / "new/b#.txt", REFERENCES[:5])
    pair = f"data.test=[{source},{reference}]"
    found = printed(evaluate(f"checkpoint={bundle}", "data=files", pair, "decode.beam_size=1"))
    assert found["sentences"] == 5
    assert found["hypotheses"].endswith("hypotheses.files.test.bb")
    assert reference.read_bytes().decode().split("\n") == [*REFERENCES[:5], ""]
    expected = Translator.load(bundle).translate(SOURCES[:5], beam_size=1)
    assert Path(found["hypotheses"]).read_text(encoding="utf-8").splitlines() == [t.text for t in expected]


def test_files_of_different_length_are_refused_with_both_counts_and_no_score(
    evaluate: Evaluate, bundle: Path, tmp_path: Path
) -> None:
    write(tmp_path / "short.aa", SOURCES[:3])
    result = evaluate(f"checkpoint={bundle}", "data=files", "data.test=[short.aa,data/x.bb]")
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(r"error: short.aa .*\b3\b.*\b24\b.*\n", result.stderr)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["split=valid"], "data.valid"),
        (["data.test=[gone.aa,gone.bb]"], "gone.aa.*data=files data.test="),
        (["data.root=elsewhere"], r"data.root means nothing for the checkpoint's own data \(kind files\)"),
        (["decode.beam_size=0"], "beam_size must be at least 1"),
        (["checkpoint=nowhere"], "nowhere"),
        (["checkpoint=forgetful"], "forgetful does not say what it was trained on: name the data"),
    ],
)
def test_mistakes_say_what_to_do(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overrides: list[str], expected: str
) -> None:
    shutil.copytree(bundle, tmp_path / "forgetful")
    write_json(
        tmp_path / "forgetful/config.json",
        {key: value for key, value in read_config(bundle).items() if key != "data"},
    )
    monkeypatch.chdir(tmp_path)
    with initialize_config_dir(str(SCRIPT.parents[1] / "conf"), version_base="1.3"):
        composed = compose("evaluate", [f"checkpoint='{bundle}'", *overrides])
    config = OmegaConf.to_container(composed, throw_on_missing=True)
    with pytest.raises(UserError, match=expected):
        scored(config)
