"""The command: rows on stdout, all else on stderr, mistakes in one line."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from benchmarks import attention, isolation
from tests import toy
from tests.benchmarks import rows
from tests.scripts import load
from tests.training.runs import write_corpus

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/benchmark.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, measuring in this process: the tests of processes are elsewhere."""

    def here(function: Callable[[Any], Any], job: Any) -> Any:
        return function(job)

    monkeypatch.setattr(isolation, "isolated", here)
    return load("benchmark")


def lines_of(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_decoding_as_a_process(flat_bundle: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("\n".join([*toy.sentences(4, seed=3), " ", "", *toy.sentences(4, seed=4)]) + "\n")
    flags = ["--checkpoint", str(flat_bundle), "--input", str(source), "--sentences", "5", "--beam", "2", "--batch",
             "3", "--cache", "on", "--rounds", "2", "--threads", "1", "--device", "cpu"]  # fmt: skip
    command = [sys.executable, str(SCRIPT), "decode", *flags]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = lines_of(done.stdout)
    assert (row["sentences"], row["beam"], row["batch"], row["cache"]) == (5, 2, 3, True)
    assert (row["input"], row["threads"], row["rounds"]) == (str(source), 1, 2)
    assert row["command"].startswith("python scripts/benchmark.py decode --checkpoint ")
    assert row["peak_mb"] > row["baseline_mb"] > 50


def test_with_and_without_a_cache_the_same_is_written(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source"
    source.write_text("\n".join(toy.sentences(4, seed=3)) + "\n")
    flags = ["--checkpoint", str(flat_bundle), "--input", str(source), "--beam", "1", "2", "--batch", "4"]
    assert script.main(["decode", *flags, "--rounds", "1", "--device", "cpu"]) == 0
    found = lines_of(capfd.readouterr().out)
    assert [(row["beam"], row["cache"]) for row in found] == [(1, True), (1, False), (2, True), (2, False)]
    assert found[0]["outputs"] == found[1]["outputs"]
    assert found[2]["outputs"] == found[3]["outputs"]


def test_training_on_files(script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pair = write_corpus(tmp_path / "data")["train"]
    flags = ["--data", *pair, "--languages", "aa", "bb", "--vocab", "70", "--batch-tokens", "110", "--steps", "3"]
    assert script.main(["train", *flags, "--rounds", "1", "--device", "cpu", "--precision", "32-true"]) == 0
    (row,) = lines_of(capfd.readouterr().out)
    assert (row["kind"], row["model"], row["steps"], row["batch_tokens"]) == ("train", "tiny", 3, 110)
    assert row["data"] == " ".join(pair)
    assert row["loss"] > 0


def test_a_bundle_brings_its_sizes_and_its_pieces(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pair = write_corpus(tmp_path / "data")["train"]
    flags = ["--data", *pair, "--languages", "aa", "bb", "--batch-tokens", "110", "--steps", "2"]
    assert script.main(["train", *flags, "--checkpoint", str(flat_bundle), "--rounds", "1", "--device", "cpu"]) == 0
    (row,) = lines_of(capfd.readouterr().out)
    assert row["model"] == flat_bundle.name
    assert row["vocab_size"] == json.loads((flat_bundle / "config.json").read_text())["model"]["vocab_size"]


def test_growth_looks_at_each_length(script: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    flags = ["--model", "tiny", "--vocab", "23", "--lengths", "2", "5", "--batch", "2", "--beam", "1", "--kv-heads",
             "1", "--source-length", "3", "--rounds", "1", "--device", "cpu"]  # fmt: skip
    assert script.main(["growth", *flags]) == 0
    found = lines_of(capfd.readouterr().out)
    assert [(row["cache"], row["kv_heads"], row["length"]) for row in found] == [
        (True, 4, 2), (True, 4, 5), (False, 4, 2), (False, 4, 5), (True, 1, 2), (True, 1, 5),
    ]  # fmt: skip


def test_kinds_are_measured_in_one_run(script: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    flags = ["--model", "tiny", "--vocab", "23", "--length", "5", "--batch", "3", "--beam", "2", "--kv-heads", "2",
             "--window", "2", "4", "--source-length", "3", "--rounds", "1", "--device", "cpu"]  # fmt: skip
    assert script.main(["kinds", *flags]) == 0
    found = lines_of(capfd.readouterr().out)
    assert [row["attention"] for row in found] == ["mha", "gqa 2", "window 2", "window 4"]
    assert {(row["batch"], row["beam"], row["length"], row["source_length"]) for row in found} == {(3, 2, 5, 3)}


def test_attention_hands_its_flags_on_and_names_its_rows(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    given: list[Any] = []

    def rows_of(*arguments: Any) -> Any:
        given.extend(arguments)
        yield {"rule": "window", "kernel": "fused", "passes": "forward", "length": 7, "seconds_exponent": float("nan")}

    monkeypatch.setattr(attention, "attention_rows", rows_of)
    flags = ["--lengths", "7", "--kinds", "window", "--kernels", "fused", "--window", "3", "--stride", "5", "--top-k",
             "2", "--d-model", "12", "--n-heads", "4", "--rounds", "6", "--threads", "1"]  # fmt: skip
    assert script.main(["attention", *flags]) == 0
    base = attention.AttentionJob(window=3, stride=5, top_k=2, d_model=12, n_heads=4, rounds=6, threads=1)
    assert given == [base, [7], ["window"], ["fused"]]
    (row,) = lines_of(capfd.readouterr().out)
    assert (row["kind"], row["rule"], row["length"], row["seconds_exponent"]) == ("attention", "window", 7, None)
    assert (row["rounds"], row["threads"]) == (6, 1)  # also of rows of exponents, which have none of their own


def test_a_report_is_a_page_and_a_picture(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second, output = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "speed.md"
    first.write_text(json.dumps(rows.train()) + "\n")
    second.write_text("\n".join(json.dumps(rows.growth(n, 1.0)) for n in (4, 8)) + "\n")
    output.write_text("# Speed\n\nWords.\n")
    assert script.main(["report", str(first), str(second), "--output", str(output)]) == 0
    assert capfd.readouterr().out == ""
    page = output.read_text()
    assert page.startswith("# Speed\n\nWords.\n")
    assert "4,321" in page
    assert "`python x growth`" in page
    assert "](speed-growth.png)\n" in page
    assert (tmp_path / "speed-growth.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["train", "--data", "poket"], "--data poket: no such corpus or file; did you mean 'pocket'?"),
        (["train", "--data", "a", "b", "c"], "data.train names 3 files"),
        (["train", "--steps", "0"], "'0' is not a whole number of at least 1"),
        (["train", "--modle", "tiny"], "did you mean '--model'"),
        (["decode", "--input", "x"], "required: --checkpoint"),
        (["decode", "--checkpoint", "nowhere", "--input", "nofile"], "cannot read nofile"),
        (["report", "norows", "--output", "x.md"], "cannot read norows"),
        ([], "required: command"),
    ],
)
def test_mistakes_are_one_line(
    script: ModuleType, capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert script.main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert expected in err
    assert err.count("\n") == 1


def test_a_file_of_blank_lines_has_nothing_to_translate(
    script: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blank").write_text("\n \n")
    assert script.main(["decode", "--checkpoint", "x", "--input", str(tmp_path / "blank")]) == 2
    assert "has no sentence to translate" in capfd.readouterr().err


@pytest.fixture(autouse=True)
def _same_threads() -> Any:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
