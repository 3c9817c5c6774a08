"""Training as a process: streams, exit statuses, awkward places, and what survives a kill or an interrupt."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.runs import TINY, fingerprints, resumed, settings_for, state, write_corpus
from translator.data.corpus import load_split
from translator.evaluation import evaluate
from translator.inference.translator import Translator
from translator.training.run import train

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/train.py"
AWKWARD = "my data/über [1], (a)@b#c%r=1"
PLAIN_C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
PARTS = ("train", "valid", "test")
#: A run that takes seconds, to be stopped in the middle.
LONG = ("trainer.max_epochs=20", "model.dropout=0.2", "trainer.ema_decay=0.9", "trainer.accumulate_grad_batches=2",
        "tokenizer.sampling=0.2")  # fmt: skip


Result = subprocess.CompletedProcess[str]
Finished = tuple[Path, Result]


def command(folder: Path, *overrides: str) -> list[str]:
    """The command for the corpus in ``folder/data``, with paths relative to ``folder``."""
    data = [f"data.{part}=[data/{part}.aa,data/{part}.bb]" for part in PARTS]
    return [sys.executable, str(SCRIPT), *TINY, *data, "checkpoints=.", *overrides]


def run(folder: Path, *overrides: str, **environment: str) -> Result:
    return subprocess.run(
        command(folder, *overrides), cwd=folder, env=os.environ | environment, capture_output=True, encoding="utf-8",
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A run in a folder of awkward characters, in the plain C locale, with umlauts in its text."""
    folder = tmp_path_factory.mktemp("train") / AWKWARD
    paths = write_corpus(folder / "data")
    for part in PARTS:
        target = Path(paths[part][1])
        target.write_text(target.read_text(encoding="utf-8").replace("A", "Ä"), encoding="utf-8")
    return folder, run(folder, "trainer.max_epochs=2", "name=lauf, (ü)=1", **PLAIN_C)


def bundle(finished: Finished) -> Path:
    return finished[0] / "lauf, (ü)=1"


def test_stdout_is_one_line_of_json_and_stderr_says_the_rest_once(finished: Finished) -> None:
    result = finished[1]
    assert result.returncode == 0, result.stderr
    (line,) = result.stdout.splitlines()
    last = json.loads(line)
    assert last["checkpoint"] == "lauf, (ü)=1"
    assert {"checkpoint", "parameters", "epochs", "seconds", "valid_bleu", "test_bleu", "signature"} <= last.keys()
    assert (last["epochs"], last["updates"]) == (2, 10)
    lines = result.stderr.splitlines()
    assert all(re.match(r"\d\d:\d\d:\d\d (INFO|WARNING) ", line) for line in lines), result.stderr
    assert not re.search("lightning|litlogger|GPU|TPU|pytree", result.stderr, re.IGNORECASE)
    assert sum("hypothesis" in line for line in lines) == 6


def test_the_bundle_translates_and_scores_as_was_told(finished: Finished) -> None:
    folder = bundle(finished)
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    translator = Translator.load(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for split in ("valid", "test"):
        text = load_split(config["data"], split)
        assert any("Ä" in line for line in text.targets)
        scores = evaluate([t.text for t in translator.translate(text.sources, max_length=11)], text.targets)
        assert scores.to_dict() == {key: metrics[split][key] for key in scores.to_dict()}


def test_the_run_leaves_its_folder_and_nothing_else(finished: Finished) -> None:
    folder = bundle(finished)
    assert {path.name for path in finished[0].iterdir()} == {"data", folder.name}
    assert {path.name for path in folder.iterdir()} == {
        "config.json", "metrics.json", "model.safetensors", "tokenizer.model", "training",
    }  # fmt: skip
    assert not [name for name in fingerprints(folder) if "=" in name]
    assert torch.load(folder / "training/last.ckpt", weights_only=True)["global_step"] == 10


def test_everybody_may_read_all_of_the_bundle(finished: Finished) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in bundle(finished).glob("*.*")}
    assert len(set(modes.values())) == 1, modes


def test_a_second_run_of_the_name_is_refused_and_touches_nothing(finished: Finished) -> None:
    before = fingerprints(bundle(finished))
    result = run(finished[0], "trainer.max_epochs=2", "name=lauf, (ü)=1")
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: lauf, (ü)=1 exists and is never overwritten: go on with it by resume=auto")
    assert fingerprints(bundle(finished)) == before


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("trainer.max_epoch=3", "error: there is no setting trainer.max_epoch; did you mean 'trainer.max_epochs'?"),
        ("modle=small", "error: "),
    ],
)
def test_a_misspelt_setting_is_one_line(tmp_path: Path, override: str, message: str) -> None:
    result = run(tmp_path, override)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(message)
    assert "did you mean" in line
    assert list(tmp_path.iterdir()) == []


def start(folder: Path) -> "subprocess.Popen[str]":
    """The long run, in a process group of its own, once it has left a state."""
    process = subprocess.Popen(
        command(folder, *LONG, "name=run"),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not (folder / "run/training/last.ckpt").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole of the long run."""
    folder = tmp_path_factory.mktemp("whole")
    train(settings_for(folder, *LONG))
    return folder


def assert_goes_on_to_the_same_end(folder: Path, uninterrupted: Path) -> None:
    """Resume in ``folder`` what was stopped there, and compare."""
    settings = settings_for(folder, *LONG)
    settings["data"]["train"] = [str(folder / f"data/train.{side}") for side in ("aa", "bb")]
    resumed(settings)
    found, wanted = folder / "run", uninterrupted / "run"
    assert (found / "model.safetensors").read_bytes() == (wanted / "model.safetensors").read_bytes()
    ours, theirs = state(found), state(wanted)
    assert ours["global_step"] == theirs["global_step"] == 60
    assert ours["lr_schedulers"] == theirs["lr_schedulers"]
    for part in ("state_dict", "current_model_state"):
        for name, tensor in theirs[part].items():
            assert torch.equal(ours[part][name], tensor)
    metrics: list[dict[str, Any]] = [
        json.loads((place / "metrics.json").read_text(encoding="utf-8")) for place in (found, wanted)
    ]
    for key in ("best", "updates", "epochs", "parameters"):
        assert metrics[0][key] == metrics[1][key]
    assert metrics[0]["valid"]["chrf"] == metrics[1]["valid"]["chrf"]


def test_a_killed_run_goes_on_to_the_same_weights_bit_by_bit(tmp_path: Path, uninterrupted: Path) -> None:
    shutil.copytree(uninterrupted / "data", tmp_path / "data")
    process = start(tmp_path)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "run/metrics.json").exists()
    assert 0 < state(tmp_path / "run")["global_step"] < 60
    assert_goes_on_to_the_same_end(tmp_path, uninterrupted)


def test_an_interrupted_run_says_how_to_go_on_and_leaves_no_process(tmp_path: Path, uninterrupted: Path) -> None:
    shutil.copytree(uninterrupted / "data", tmp_path / "data")
    process = start(tmp_path)
    for _ in range(3):  # an impatient user
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert re.search(r"stopped; the same command with resume=auto goes on from update \d+", err)
    with pytest.raises(ProcessLookupError, match="No such process"):
        os.killpg(process.pid, 0)
    assert_goes_on_to_the_same_end(tmp_path, uninterrupted)
