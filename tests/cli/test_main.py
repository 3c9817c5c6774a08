"""The door: every command is there, answers --help at once, and a mistyped name is one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from translator.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
#: All helps in one process; what a command composes with Hydra comes last, since Hydra then stays loaded.
HELPS = """
import sys
from translator.cli.main import COMMANDS, main

def help_of(name):
    sys.stdout.flush()
    try:
        status = main([name, "--help"])
    except SystemExit as end:
        status = end.code
    assert not status, (name, status)

heavy = ["torch", "numpy", "sentencepiece", "lightning", "datasets", "matplotlib", "rich", "sacrebleu"]
composed = ["train", "evaluate"]
for name in [*(name for name in COMMANDS if name not in composed), *composed]:
    help_of(name)
    loaded = sys.modules.keys() & {*heavy, *([] if name in composed else ["hydra", "omegaconf"])}
    assert not loaded, (name, loaded)
"""


def test_every_command_tells_its_flags_and_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", HELPS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told = [name for name in COMMANDS if f"usage: translator {name} [-h]" in done.stdout]
    assert told == [name for name in COMMANDS if name not in ("train", "evaluate", "translate", "benchmark")]
    for start in (
        "usage: translate [-h]",
        "usage: benchmark.py [-h]",
        "translator train is powered",
        "translator eval",
    ):
        assert start in done.stdout


def test_the_programs_help_names_every_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "translator", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["trian"], "translator: error: there is no command 'trian'; did you mean 'train'?\n"),
        (["xyz"], "translator: error: there is no command 'xyz'; commands are listed by translator --help\n"),
        ([], "translator: error: name a command; commands are listed by translator --help\n"),
        (
            ["prune"],
            "translator prune: error: the following arguments are required: DIR (see translator prune --help)\n",
        ),
        (["inspect", "x", "hedas"], "translator inspect: error: argument"),
        (["share-heads", "x", "--kv-head", "1"], "translator share-heads: error: the following arguments are required"),
        (["translate", "--beem-size", "3"], "translate: error: unknown argument '--beem-size'; did you mean"),
        (["evaluate", "chekpoint=x"], "error: there is no setting chekpoint; did you mean 'checkpoint'?\n"),
        (["train", "--cofig-dir", "x"], "error: there is no flag --cofig-dir: settings are written key=value"),
    ],
)
def test_mistakes_are_one_line(capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str) -> None:
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(expected)


def test_a_folder_of_own_settings_is_found_beside_ours(tmp_path: Path) -> None:
    (tmp_path / "mine/experiment").mkdir(parents=True)
    (tmp_path / "mine/experiment/own.yaml").write_text("# @package _global_\nmodel:\n  d_model: 48\n")
    command = [sys.executable, "-m", "translator", "train", "--cfg", "job", "--config-dir", "mine", "experiment=own"]
    environment = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "  d_model: 48\n" in done.stdout
    assert "  n_heads: 4\n" in done.stdout


def test_one_command_within_another_and_by_itself(flat_bundle: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pair = ["--source", "ko di", "--target", "ME NOTI"]
    assert main(["inspect", str(flat_bundle), "align", *pair]) == 0
    within = capfd.readouterr().out
    assert main(["align", str(flat_bundle), *pair]) == 0
    assert capfd.readouterr().out == within


def test_measuring_needs_a_checkout(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "benchmarks", None)
    monkeypatch.delitem(sys.modules, "benchmarks.command", raising=False)
    assert main(["benchmark", "attention"]) == 2
    assert "measuring needs a checkout of the project" in capfd.readouterr().err
