"""Smaller bundles: which heads go, what is written, and that all other commands take it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from tests import toy
from tests.scripts import load
from translator.alignment.reading import Reading, choose_reading
from translator.bundle import Bundle, load_bundle, read_config, save_new, store_in_config
from translator.compression import curve as pruning_curve
from translator.compression.curve import curve, curve_lines
from translator.compression.pruning import least_important, prune_bundle
from translator.data.parallel import ParallelText
from translator.errors import UserError
from translator.files import write_json
from translator.inference.translator import Translator
from translator.inspection.heads.names import Head, heads_of
from translator.inspection.heads.study import Study
from translator.inspection.summary import describe

pytestmark = pytest.mark.usefixtures("level")


ROOT = Path(__file__).resolve().parents[2]
SOURCES = toy.sentences(7, seed=3, longest=4)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load("prune_heads")


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speed is not what is tested."""
    monkeypatch.setattr(pruning_curve, "ROUNDS", 1)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two parallel files."""
    sides = {"x.aa": SOURCES, "x.bb": [toy.expected(line) for line in SOURCES]}
    for name, lines in sides.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [str(tmp_path / name) for name in sides]


IMPORTANCE = {
    Head("encoder", 0, 0): 0.9, Head("encoder", 0, 1): 0.1, Head("decoder", 0, 0): 0.2, Head("decoder", 0, 1): 0.3,
    Head("cross", 0, 0): 0.8, Head("cross", 0, 1): 0.7,
}  # fmt: skip


@pytest.mark.parametrize(
    ("keep", "kinds", "per_kind", "expected"),
    [
        (0.5, ("encoder", "decoder", "cross"), False, ["enc.self.0:1", "dec.self.0:0", "dec.self.0:1"]),
        (0.5, ("encoder", "decoder", "cross"), True, ["enc.self.0:1", "dec.self.0:0", "dec.cross.0:1"]),
        (0.5, ("cross",), False, ["dec.cross.0:1"]),
        (0.01, ("encoder", "decoder"), False, ["enc.self.0:1", "dec.self.0:0", "dec.self.0:1"]),
        (1.0, ("encoder", "decoder", "cross"), True, []),
    ],
)
def test_the_least_important_heads_go(keep: float, kinds: tuple[str, ...], per_kind: bool, expected: list[str]) -> None:
    assert [str(head) for head in least_important(IMPORTANCE, keep, kinds, per_kind=per_kind)] == expected


def pruned(directory: Path, *heads: Head) -> Bundle:
    return prune_bundle(load_bundle(directory), heads)


def test_a_pruned_bundle_is_a_bundle(toy_bundle: Path, tmp_path: Path) -> None:
    bundle = load_bundle(toy_bundle)
    whole = describe(bundle.model, bundle.config, {})
    gone = [Head("encoder", 1, 3), *(Head("decoder", 0, n) for n in range(4)), Head("cross", 1, 0), Head("cross", 1, 2)]
    smaller = prune_bundle(bundle, gone)
    assert len(heads_of(bundle.model)) == len(heads_of(smaller.model)) + 7  # the given one is whole
    save_new(smaller, tmp_path / "new/small")
    loaded = load_bundle(tmp_path / "new/small")
    assert loaded.config["model"]["pruned_heads"] == {"cross.1": [0, 2], "decoder.0": [0, 1, 2, 3], "encoder.1": [3]}
    found = Translator(loaded.model, loaded.tokenizer)
    for beam in (1, 5):
        expected = Translator(smaller.model, bundle.tokenizer).translate(SOURCES, beam_size=beam)
        assert found.translate(SOURCES, beam_size=beam) == expected
    assert found.translate(SOURCES[:1], alignments="hard")[0].alignment is not None
    lines = describe(loaded.model, loaded.config, {})
    assert sum(p.numel() for p in bundle.model.parameters()) - sum(p.numel() for p in loaded.model.parameters()) == (
        7 * (4 * 16 * 64 + 3 * 16)
    )
    assert whole[0] != lines[0]
    assert any("layer 0" in line and "0 heads of 16, without 0, 1, 2, 3" in line for line in lines)
    assert any("layer 1" in line and "2 heads of 16, without 0, 2" in line for line in lines)
    with pytest.raises(UserError, match="exists and is never overwritten"):
        save_new(smaller, tmp_path / "new/small")


def test_the_place_of_alignments_moves_with_its_heads(flat_bundle: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(flat_bundle, tmp_path / "flat")
    write_json(directory / "config.json", read_config(directory) | {"alignment": {"layer": 1, "heads": [1, 3]}})
    left = {"layer": 1, "heads": [1], "step": "output"}
    assert pruned(directory, Head("cross", 1, 0), Head("cross", 1, 1)).config["alignment"] == left
    assert "alignment" not in pruned(directory, Head("cross", 1, 1), Head("cross", 1, 3)).config
    several = {"layer": [0, 1], "heads": [[0, 2], [1, 3]], "step": "input"}
    write_json(directory / "config.json", read_config(directory) | {"alignment": several})
    assert pruned(directory, Head("cross", 0, 1)).config["alignment"] == several | {"heads": [[0, 1], [1, 3]]}
    both = pruned(directory, Head("cross", 1, 1), Head("cross", 1, 3)).config["alignment"]
    assert both == {"layer": 0, "heads": [0, 2], "step": "input"}


def test_alignments_are_read_where_heads_are_left() -> None:
    assert choose_reading([2, 4, 0, 4], None, (3,), None) == Reading.at(1, (3,))
    with pytest.raises(UserError, match=r"all cross-attention heads of decoder layer 2 have been pruned"):
        choose_reading([2, 4, 0, 4], 2, None, None)
    with pytest.raises(UserError, match=r"all cross-attention heads have been pruned"):
        choose_reading([0, 0], None, None, None)


def test_the_curve_goes_from_the_whole_model_down(toy_translator: Translator, one_round: None) -> None:
    study = Study(toy_translator, ParallelText(SOURCES, [toy.expected(line) for line in SOURCES]))
    weights = {head: float(place) for place, head in enumerate(heads_of(study.model))}
    points = curve(study, weights)
    assert [point.kinds for point in points[::5]] == ["all", "enc.self", "dec.self", "dec.cross"]
    assert [point.kept for point in points[:10]] == [24, 19, 14, 10, 5, 8, 6, 5, 3, 2]
    assert points[0].bleu == points[5].bleu == study.bleu() > points[4].bleu
    assert [point.parameters for point in points[:5]] == sorted((p.parameters for p in points[:5]), reverse=True)
    assert points[0].megabytes == pytest.approx(4e-6 * sum(p.numel() for p in study.model.parameters()))
    assert [point.gated_bleu for point in points] == pytest.approx([point.bleu for point in points])
    lines = curve_lines(points, 7)
    assert len(lines) == 1 + len(points) + 4
    assert lines[-1].endswith("BLEU differs by 0.00 at most.")
    one_off = [*points[:-1], replace(points[-1], gated_bleu=points[-1].bleu - 1.25)]
    assert curve_lines(one_off, 7)[-1].endswith("BLEU differs by 1.25 at most.")
    assert len(heads_of(study.model)) == 24


def test_the_command_removes_what_it_is_told(flat_bundle: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/prune_heads.py"), str(flat_bundle), "--output", "small"]
    heads = ["--heads", "enc.self.0:0,1,2,3", "--heads", "dec.cross.1:2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [*command, *heads], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 0, result.stderr
    assert "no head is left in encoder.0" in result.stderr
    assert result.stdout.splitlines()[0] == "removed     enc.self.0:0,1,2,3 dec.cross.1:2"
    assert "heads       19 of 24" in result.stdout
    assert Translator.load(tmp_path / "small").translate(["ko ba"])[0].tokens is not None


def test_the_command_keeps_a_share_and_measures_the_curve(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, files: list[str], capfd: pytest.CaptureFixture[str],
    one_round: None,
) -> None:  # fmt: skip
    small, data = tmp_path / "small", ["--data", *files, "--limit", "3"]
    assert script.main([str(flat_bundle), "--keep", "0.5", "--kind", "dec.cross", "--output", str(small), *data]) == 0
    assert "heads       20 of 24" in capfd.readouterr().out
    assert {site.split(".")[0] for site in load_bundle(small).model.config.pruned_heads} == {"cross"}
    assert script.main([str(small), "--curve", "--output-dir", str(tmp_path / "c"), *data]) == 0
    out = capfd.readouterr().out
    values = json.loads((tmp_path / "c/curve.json").read_text(encoding="utf-8"))
    assert (values["sentences"], len(values["points"])) == (3, 20)
    assert (tmp_path / "c/curve.png").read_bytes().startswith(b"\x89PNG")
    assert "enc.self" in out
    assert script.main([str(small), "--curve", "--output-dir", str(tmp_path / "c"), *data]) == 2
    assert "curve.json exists and is never overwritten" in capfd.readouterr().err


MISTAKES: list[tuple[list[str], str]] = [
    (
        ["--heads", "dec.cross.9:0", "--output", "n"],
        "dec.cross.9:0: there is no such layer; dec.cross has layers 0 to 1",
    ),
    (["--heads", "dec.cross.1:7", "--output", "n"], "dec.cross.1:7: there is no such head"),
    (["--heads", "layer3", "--output", "n"], "'layer3' names no heads"),
    (["--keep", "0", "--output", "n"], "must be above 0 and at most 1, not 0"),
    (["--keep", "1.5", "--output", "n"], "must be above 0 and at most 1, not 1.5"),
    (["--keep", "nan", "--output", "n"], "must be above 0 and at most 1, not nan"),
    (["--keep", "0.5", "--output", "n"], "does not say what it was trained on: name files by --data SOURCE TARGET"),
    (["--keep", "0.5"], "--heads and --keep must say where to write: add --output"),
    (["--curve"], "--curve must say where to write: add --output-dir"),
    (["--curve", "--output-dir", "n", "--output", "n"], "--curve writes nothing to --output: leave it out"),
    (["--curve", "--output-dir", "n", "--finetune", "1"], "--curve trains nothing"),
    (["--heads", "enc.self.0:0", "--per-kind", "--output", "n"], "they need --keep"),
    (["--output", "n"], "one of the arguments --heads --keep --curve is required"),
    (["--heads", "enc.self.0:0", "--output", "."], ". exists and is never overwritten"),
    (["--heads", "enc.self.0:0", "--output", "n", "--finetune", "1"], "training/settings.json is missing"),
    (["--heads", "enc.self.0:0", "--output", "n", "--finetune", "0"], "--finetune must be at least 1, not 0"),
]


@pytest.mark.parametrize(("arguments", "expected"), MISTAKES)
def test_mistakes_are_one_line_and_nothing_is_written(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert script.main([str(flat_bundle), *arguments]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert expected in err
    assert list(tmp_path.iterdir()) == []


def test_the_heads_of_a_checkpoint_are_reported(
    flat_bundle: Path, tmp_path: Path, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    inspect = load("inspect_checkpoint")
    (tmp_path / "links").write_text("0-0\n" * len(Path(files[0]).read_text(encoding="utf-8").splitlines()))
    gold = ["--gold", *files, str(tmp_path / "links")]
    command = [str(flat_bundle), "heads", "--data", *files, *gold, "--limit", "1", "--explain", "1"]
    outputs = ["--png", str(tmp_path / "h.png"), "--json", str(tmp_path / "h.json")]
    assert inspect.main([*command, *outputs]) == 0
    out = capfd.readouterr().out
    assert sum(line.startswith(("enc.self.", "dec.self.", "dec.cross.")) for line in out.splitlines()) == 24
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")
    heads = json.loads((tmp_path / "h.json").read_text(encoding="utf-8"))["heads"]
    assert (len(heads), sum("aer" in head for head in heads)) == (24, 8)
    assert inspect.main([str(flat_bundle), "heads"]) == 2
    assert "name files by --data SOURCE TARGET" in capfd.readouterr().err
    pocket = shutil.copytree(flat_bundle, tmp_path / "pocket")
    data = {"kind": "pocket", "source": "en", "target": "de", "valid_size": 5, "seed": 7}
    store_in_config(pocket, data=data, source="en", target="de")
    assert inspect.main([str(pocket), "heads", "--limit", "1", "--explain", "0"]) == 0
    assert "AER" in capfd.readouterr().out  # its links are known
