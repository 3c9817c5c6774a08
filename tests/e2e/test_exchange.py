"""Export, import and self check as commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts import load
from translator.bundle import load_bundle
from translator.files import write_json

ROOT = Path(__file__).resolve().parents[2]
ALONE = """
import runpy, sys
sys.modules.update(transformers=None, ctranslate2=None, lightning=None, hydra=None, datasets=None)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run_alone(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, where the other programs' libraries are not installed."""
    command = [sys.executable, "-c", ALONE, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_a_folder_goes_out_and_comes_back_without_any_further_library(flat_bundle: Path, tmp_path: Path) -> None:
    out, back = tmp_path / "out", tmp_path / "deep/er/back"

    exported = run_alone(ROOT / "scripts/export.py", flat_bundle, "--to", "huggingface", "--output", out)
    assert (exported.returncode, exported.stdout) == (0, f"{out}\n")
    assert "NFC" in exported.stderr

    imported = run_alone(ROOT / "scripts/import_model.py", out, "--output", back)
    assert (imported.returncode, imported.stdout, imported.stderr) == (0, f"{back}\n", "")
    for name in ("model.safetensors", "tokenizer.model", "config.json"):
        assert (back / name).read_bytes() == (flat_bundle / name).read_bytes(), name

    refused = run_alone(ROOT / "scripts/export.py", flat_bundle, "--to", "ctranslate2", "--output", tmp_path / "ct2")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert "pip install ctranslate2" in refused.stderr


@pytest.mark.parametrize(
    ("script", "arguments", "expected"),
    [
        ("export", ["{bundle}", "--to", "onnx", "--output", "x"], "invalid choice: 'onnx'"),
        ("export", ["{bundle}", "--to", "huggingface"], "required: --output"),
        ("export", ["{bundle}", "--to", "huggingface", "--output", "x", "--quantization", "int8"], "hold float32"),
        ("export", ["{bundle}", "--to", "ctranslate2", "--output", "x", "--quantization", "int9"], "must be one of"),
        ("export", ["{bundle}", "--to", "huggingface", "--output", "{bundle}"], "is never overwritten"),
        ("export", ["nowhere", "--to", "huggingface", "--output", "x"], "no model at nowhere"),
        ("import_model", ["{bundle}", "--output", "x"], "was not written by scripts/export.py"),
        ("import_model", ["nowhere", "--output", "x"], "there is no folder nowhere"),
        ("selfcheck", ["nowhere"], "no model at nowhere"),
        ("selfcheck", ["{bundle}", "--sentences", "0"], "--sentences must be at least 1"),
        ("selfcheck", ["{bundle}", "--exported", "nowhere"], "no exported model at nowhere"),
    ],
)
def test_mistakes_are_one_line(
    script: str, arguments: list[str], expected: str, flat_bundle: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert load(script).main([argument.format(bundle=flat_bundle) for argument in arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert expected in err
    assert err.count("\n") == 1
    assert not Path("x").exists()


def test_the_self_check_finds_exports_beside_the_bundle_and_stale_ones(
    flat_bundle: Path, toy_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bundle, beside, stale = tmp_path / "mine", tmp_path / "mine-ctranslate2", tmp_path / "stale"
    bundle.mkdir()
    for path in flat_bundle.iterdir():
        (bundle / path.name).write_bytes(path.read_bytes())
    export, selfcheck = load("export"), load("selfcheck")
    assert export.main([str(bundle), "--to", "ctranslate2", "--output", str(beside)]) == 0
    capfd.readouterr()

    assert selfcheck.main([str(bundle), "--sentences", "3"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("3 pairs from made-up pieces")
    assert [line.split("  ")[0] for line in lines[1:-1]] == [
        "cached = uncached", "batch 1 = batch N", "padded = unpadded", "beam 1 = greedy",
        "masked = pruned", "fused = explicit",
        f"exported = ours ({beside})",
    ]  # fmt: skip
    assert all(line.endswith("holds") for line in lines[1:-1])
    assert lines[-1] == "all 7 checks hold"

    assert export.main([str(toy_bundle), "--to", "huggingface", "--output", str(stale)]) == 0
    capfd.readouterr()
    flags = ["--sentences", "3", "--json", "--exported", str(stale), "--exported", str(beside)]
    assert selfcheck.main([str(bundle), *flags]) == 1
    values = json.loads(capfd.readouterr().out)
    assert values["holds"] is False
    assert [check["holds"] for check in values["checks"]] == [True] * 6 + [False, True]
    assert values["checks"][6]["difference"] > 0.1


def test_what_the_bundle_remembers_comes_back(flat_bundle: Path, tmp_path: Path) -> None:
    bundle = load_bundle(flat_bundle)
    out, back = tmp_path / "out", tmp_path / "back"
    more = {"alignment": {"layer": 1, "heads": [0]}, "data": {"kind": "pocket"}, "decode": {"beam_size": 3}}
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("model.safetensors", "tokenizer.model"):
        (copied / name).write_bytes((flat_bundle / name).read_bytes())
    write_json(copied / "config.json", bundle.config | more)

    assert load("export").main([str(copied), "--to", "huggingface", "--output", str(out)]) == 0
    assert load("import_model").main([str(out), "--output", str(back)]) == 0

    found = load_bundle(back).config
    assert (found["alignment"], found["decode"]) == (more["alignment"], more["decode"])
    assert "data" not in found
