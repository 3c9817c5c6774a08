"""The built wheel alone, in an empty folder: to train, score, translate and look inside it needs nothing else."""

import importlib.util
import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from translator.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
#: Commands one after the other in one process; -I and -S keep the checkout, an editable install too, off the path.
PROGRAM = """
import json, sys
sys.path[:0] = json.loads(sys.argv.pop(1))
import translator
from translator.cli.main import main
print(translator.__file__, flush=True)
for arguments in json.loads(sys.argv.pop(1)):
    status = main(arguments)
    print(f"-- {arguments[0]}: {status}", flush=True)
"""
PAIR = ["--source", "The old nurse sleeps.", "--target", "Die alte Krankenschwester schläft."]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed: pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (built,) = folder.glob("*.whl")
    zipfile.ZipFile(built).extractall(folder / "unpacked")
    return folder / "unpacked"


def test_what_is_no_code_travels_too(wheel: Path) -> None:
    here = ROOT / "translator"
    kinds = {".parquet", ".js", ".css", ".html", ".typed"}
    wanted = {path.relative_to(here) for path in here.rglob("*") if path.suffix in kinds or path.name == "py.typed"}
    wanted |= {path.relative_to(ROOT) for path in (ROOT / "conf").rglob("*.yaml")}
    there = wheel / "translator"
    assert len(wanted) > 40
    assert [path for path in sorted(wanted) if not (there / path).is_file()] == []
    assert {path.name for path in wheel.iterdir() if path.suffix != ".dist-info"} == {"translator"}
    (entries,) = wheel.glob("*.dist-info/entry_points.txt")
    assert "translator = translator.cli.main:main\n" in entries.read_text()


def test_every_step_of_a_model_works_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "myconf/experiment").mkdir(parents=True)
    mine = "# @package _global_\nname: mine\nmodel:\n  n_encoder_layers: 1\n  d_model: 32\n"
    (tmp_path / "myconf/experiment/mine.yaml").write_text(mine)
    (tmp_path / "in").write_text("The old nurse sleeps.\n\n", encoding="utf-8")
    bundle, own = "checkpoints/mine", ["--config-dir", "myconf", "experiment=mine"]
    commands = [
        ["train", "data=pocket", "debug=fast", "trainer=cpu", *own],
        ["evaluate", f"checkpoint={bundle}", "+data.test_size=9", "decode.beam_size=1"],
        ["translate", "-q", "-m", bundle, "-i", "in", "-o", "out"],
        ["inspect", bundle],
        ["align", bundle, *PAIR, "--html", "page.html"],
        ["heads", bundle, "--limit", "1", "--explain", "0"],
        ["export", bundle, "--to", "huggingface", "--output", "hf"],
        ["import", "hf", "--output", "again"],
        ["benchmark", "attention"],
    ]
    path = [str(wheel), *dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))]
    start = [sys.executable, "-I", "-S", "-c", PROGRAM, json.dumps(path), json.dumps(commands)]
    done = subprocess.run(start, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    lines = done.stdout.splitlines()
    assert lines[0] == str(wheel / "translator/__init__.py")
    assert [line for line in lines if line.startswith("-- ")] == [
        *(f"-- {command[0]}: 0" for command in commands[:-1]),
        "-- benchmark: 2",
    ], done.stderr
    assert "measuring needs a checkout" in done.stderr.splitlines()[-1]
    trained, scored = (json.loads(line) for line in lines if line.startswith("{"))
    assert (trained["checkpoint"], scored["checkpoint"], scored["sentences"]) == (bundle, bundle, 9)
    assert json.loads((tmp_path / bundle / "config.json").read_text())["model"]["d_model"] == 32
    assert (tmp_path / "out").read_text(encoding="utf-8").count("\n") == 2
    assert "</html>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert {command[0] for command in commands} <= COMMANDS.keys()
    assert {path.name for path in tmp_path.iterdir()} == {
        "myconf",
        "in",
        "out",
        "checkpoints",
        "page.html",
        "hf",
        "again",
    }
