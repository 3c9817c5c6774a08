"""Settings on the command line mean what was typed, and mistakes are one line on stderr with status 2."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from translator.cli import composed
from translator.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = "my data/über [1], (a)@b#c%r"
PATHS = ("checkpoint", "data.root", "data.train")
PROGRAM = f"""
import json, logging, sys
from pathlib import Path
from translator.cli.composed import run
from translator.errors import UserError

def main(config):
    logging.getLogger("run").info("working")
    if config["seed"] == 13:
        raise UserError("13 brings bad luck: take another seed")
    if config["seed"] == 17:
        raise KeyboardInterrupt
    if config["seed"] == 19:
        raise ZeroDivisionError("a mistake of ours")
    print(json.dumps(config))

sys.exit(run("config", main, sys.argv[1:], path_keys={PATHS!r}, config_dir=Path(CONF)))
"""
CONFIG = """
defaults:
  - data: near
  - _self_
  - override hydra/job_logging: stderr
  - override hydra/hydra_logging: stderr
checkpoint: null
checkpoints: checkpoints
seed: 1
variant: null
needed: 5
"""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A small configuration that has our own ``hydra`` section."""
    conf = tmp_path / "conf"
    (conf / "data").mkdir(parents=True)
    shutil.copytree(ROOT / "conf/hydra", conf / "hydra")
    section = (ROOT / "conf/config.yaml").read_text(encoding="utf-8").partition("\nhydra:")[2]
    (conf / "config.yaml").write_text(f"{CONFIG}\nhydra:{section}", encoding="utf-8")
    (conf / "lesson").mkdir()
    (conf / "lesson/two.yaml").write_text("page: 1\n", encoding="utf-8")
    (conf / "data/near.yaml").write_text("root: null\ntrain: null\n", encoding="utf-8")
    (conf / "data/far.yaml").write_text("root: elsewhere\ntrain: null\nhost: '???'\n", encoding="utf-8")
    return conf


@pytest.fixture
def command(tmp_path: Path, conf: Path) -> Command:
    """Run a small program on the small configuration, in an empty folder."""
    folder, program = tmp_path / "here", tmp_path / "program.py"
    folder.mkdir()
    program.write_text(PROGRAM.replace("CONF", repr(str(conf))), encoding="utf-8")

    def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
        full = [sys.executable, str(program), *arguments]
        return subprocess.run(full, cwd=folder, capture_output=True, encoding="utf-8", check=False)

    return call


def refusal(result: "subprocess.CompletedProcess[str]") -> str:
    """The one line of a run that refused."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_a_run_gets_plain_values_and_leaves_nothing_behind(command: Command, tmp_path: Path) -> None:
    result = command(f"data.root={AWKWARD}", "checkpoint=run/epoch=3-step=9.ckpt", "data.train=[a (1).en,b#.de]")
    assert result.returncode == 0, result.stderr
    config = json.loads(result.stdout)
    assert config["data"] == {"root": AWKWARD, "train": ["a (1).en", "b#.de"]}
    assert config["checkpoint"] == "run/epoch=3-step=9.ckpt"
    assert "hydra" not in config
    assert "working" in result.stderr
    assert list((tmp_path / "here").iterdir()) == []


def test_a_sweep_runs_each_combination_under_its_own_name_whatever_becomes_of_the_others(
    command: Command, tmp_path: Path
) -> None:
    result = command("seed=13,2", "data=near,far", "-m", "data.root=x", "+data.host=y", "needed=7")
    assert result.returncode == 2
    assert result.stderr.splitlines().count("error: 13 brings bad luck: take another seed") == 2
    configs = [json.loads(line) for line in result.stdout.splitlines()]
    assert [config["variant"] for config in configs] == ["seed-2_data-near", "seed-2_data-far"]
    assert {(config["needed"], config["data"]["host"]) for config in configs} == {(7, "y")}
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["checkpoints"]


def test_a_users_mistake_in_the_run_is_one_line(command: Command) -> None:
    result = command("seed=13")
    assert (result.returncode, result.stdout) == (2, "")
    assert [line for line in result.stderr.splitlines() if "working" not in line] == [
        "error: 13 brings bad luck: take another seed"
    ]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("data.trian=x", "there is no setting data.trian; did you mean 'data.train'?"),
        ("root=x", "there is no setting root; did you mean 'data.root'?"),
        ("sed=3", "there is no setting sed; did you mean 'seed'?"),
        ("data=farr", "data=farr: no such choice; did you mean 'far'?; there are far, near"),
        ("seed", "cannot read seed: settings are written key=value"),
        ("lesson=two", "there is no setting lesson here"),
        ("data=2", "Config group override must be a string or a list"),
        ("--seed", "there is no flag --seed: settings are written key=value"),
        ("seed=1,2", "seed=1,2 stands for several values: add -m"),
    ],
)
def test_settings_that_do_not_exist_are_refused_in_one_line(
    conf: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    argument: str,
    expected: str,
) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")

    def never(config: object) -> None:
        pytest.fail("must not run")

    assert composed.run("config", never, [argument], path_keys=PATHS, config_dir=conf) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"error: {re.escape(expected)}.*\n", err)


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("data=far", "data.host is needed: add data.host=..."),
        ("seed=${nothing}", "Interpolation key 'nothing' not found"),
    ],
)
def test_values_that_are_missing_are_refused_in_one_line(command: Command, argument: str, expected: str) -> None:
    assert expected in refusal(command(argument))


def test_an_interrupt_ends_with_its_own_status(command: Command) -> None:
    result = command("seed=17")
    assert result.returncode == 130
    assert "Traceback" not in result.stderr


def test_our_own_mistakes_show_where_they_are(command: Command) -> None:
    result = command("seed=19")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert "ZeroDivisionError: a mistake of ours" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        AWKWARD,
        "a,b",
        "a=b",
        "~backup",
        "x~y",
        "ä",
        "(a)",
        "[1",
        "12",
        "1.5",
        "true",
        "{a: b}",
        "range(1,3)",
        "it's",
        " x",
    ],
)
def test_paths_are_text_whatever_they_hold(text: str) -> None:
    written = composed.readable(f"data.root={text}", PATHS, False)
    assert composed._parse(written).value() == text
    assert composed.readable(written, PATHS, False) == written


@pytest.mark.parametrize(
    "argument", ["data.root=plain/path.en", "data.root='a, b'", "data.root=null", "data.train=[a,b]"]
)
def test_paths_that_are_clear_stay_as_typed(argument: str) -> None:
    assert composed.readable(argument, PATHS, False) == argument


def test_the_home_folder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    written = composed.readable("data.root=~/corpora", PATHS, False)
    assert composed._parse(written).value() == "/home/someone/corpora"


def test_a_comma_sweeps_over_paths_only_when_asked() -> None:
    assert composed.readable("data.root=a,b", PATHS, True) == "data.root=a,b"
    assert composed.readable("data.root=a,b", PATHS, False) == "data.root='a,b'"


@pytest.mark.parametrize("argument", ["seed=1,(2", "seed=a=b"])
def test_other_values_that_cannot_be_read_are_refused_with_the_right_quoting(argument: str) -> None:
    with pytest.raises(UserError, match=r"cannot read seed=.* write .*seed='") as caught:
        composed.readable(argument, PATHS, False)
    assert argument in str(caught.value)
