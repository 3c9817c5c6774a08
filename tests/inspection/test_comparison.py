"""Trainings compared: what is a variant, what the figures are, and the command."""

import csv
import json
import shlex
from pathlib import Path
from types import ModuleType

import pytest
import torch

from tests import toy
from tests.scripts import load
from translator.bundle import METRICS, SETTINGS, load_bundle, save_bundle
from translator.files import write_json
from translator.inspection.comparison import Trained, Variant, variant_of

PNG = b"\x89PNG"


@pytest.fixture
def script() -> ModuleType:
    return load("compare")


@pytest.fixture(scope="module")
def trained(
    toy_bundle: Path, flat_bundle: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, int], Path]:
    """Two seeds of a good and of a bad variant, which share a test text."""
    folder = tmp_path_factory.mktemp("trained")
    lines = toy.sentences(40, seed=5)
    (folder / "test.aa").write_text("".join(f"{line}\n" for line in lines))
    (folder / "test.bb").write_text("".join(f"{toy.expected(line)}\n" for line in lines))
    data = {"kind": "files", "source": "aa", "target": "bb", "test": [f"{folder}/test.aa", f"{folder}/test.bb"]}
    found = {}
    for name, original in (("good", toy_bundle), ("bad", flat_bundle)):
        bundle = load_bundle(original)
        for seed in (1, 2):
            path = folder / f"study_seed-{seed}_kind-{name}"
            save_bundle(
                path, bundle.model, bundle.tokenizer, source="aa", target="bb", data=data, decode={"beam_size": 1}
            )
            figures = {"seed": seed, "parameters": 12345, "tokens_per_second": 1000.0 * seed, "seconds": 60.0 * seed}
            write_json(path / METRICS, figures | {"command": "python x -m kind=good,bad", "updates": 77})
            (path / SETTINGS).parent.mkdir()
            kept = {"model": {"d_model": 64, "kind": {"good": name == "good"}}, "batch": {"max_tokens": 9, "no": None}}
            write_json(path / SETTINGS, kept)
            found[name, seed] = path
    return found


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("study_seed-1_attention-mha", "study_attention-mha"),
        ("study_attention-mha_seed-12", "study_attention-mha"),
        ("seed-3", "seed-3"),
        ("pocket", "pocket"),
        ("seed-3_x", "x"),
        ("my_seed-less_run", "my_seed-less_run"),
    ],
)
def test_a_variant_is_the_name_without_the_seed(name: str, variant: str) -> None:
    assert variant_of(name) == variant


def test_figures_are_means_and_medians_over_seeds() -> None:
    runs = [
        Trained(Path("x"), "x", seed, 7, (64, 32), speed, [], bleu, 10 * speed, "BLEU|...")
        for seed, speed, bleu in ((1, 100.0, 30.0), (2, 900.0, 33.0), (3, 200.0, 36.0))
    ]

    figures = Variant("x", runs, [0.5, 0.25, 0.125]).figures()

    assert (figures["bleu"], figures["bleu_deviation"]) == (33.0, 3.0)
    assert (figures["train_tokens_per_second"], figures["decode_tokens_per_second"]) == (200.0, 2000.0)
    assert (figures["kv_bytes_target_token"], figures["kv_bytes_source_token"]) == (64, 32)
    assert Variant("x", runs[:1], []).bleu == (30.0, 0.0)


def test_the_command_tells_a_good_variant_from_a_bad_one(
    script: ModuleType, trained: dict[tuple[str, int], Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "study"
    order = [str(trained[key]) for key in (("good", 2), ("bad", 1), ("good", 1), ("bad", 2))]

    assert script.main([*order, order[0], "--output-dir", str(folder)]) == 0  # naming one twice makes no third seed

    page = capfd.readouterr().out.splitlines()
    assert (folder / "comparison.md").read_text().splitlines() == page
    command = shlex.join(["python", "scripts/compare.py", *order, order[0], "--output-dir", str(folder)])
    assert page[2].startswith(f"Made by `{command}`: ")
    assert f"torch {torch.__version__}" in page[2]
    assert page.count("python x -m kind=good,bad") == 1
    assert "| study_kind-bad | - | 77 | 1.5 | - | - | - | model.kind.good=False |" in page
    assert page[-4:] == ["```", "model.d_model=64", "batch.max_tokens=9", "```"]
    good, bad = json.loads((folder / "comparison.json").read_text())
    assert (good["variant"], good["seeds"], bad["variant"]) == ("study_kind-good", [2, 1], "study_kind-bad")
    assert good["bleu"] > 90 > 20 > bad["bleu"]
    assert (good["bleu_deviation"], good["p_values"]) == (0.0, [])
    assert len(bad["p_values"]) == 2
    assert max(bad["p_values"]) < 0.01
    assert good["kv_bytes_target_token"] == 2 * 2 * 64 * 4  # layers, keys and values, d_model, float32
    rows = list(csv.DictReader((folder / "comparison.csv").open()))
    assert [float(row["bleu"]) for row in rows] == [good["bleu"], bad["bleu"]]
    assert (folder / "comparison.png").read_bytes().startswith(PNG)

    assert script.main([*order, "--output-dir", str(folder)]) == 2
    assert "comparison.md exists and is never overwritten" in capfd.readouterr().err


def test_what_cannot_be_compared_is_told_in_one_line(
    script: ModuleType, trained: dict[tuple[str, int], Path], toy_bundle: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = str(trained["good", 1])
    for arguments, message in (
        ([str(toy_bundle)], "does not say what it was trained on"),
        ([good, str(toy_bundle)], "has no figures of a whole training"),
        ([good, "--split", "unheard"], "unheard"),
        ([good, "--limit", "0"], "--limit must be at least 1"),
    ):
        assert script.main(arguments) == 2
        said = capfd.readouterr().err.splitlines()
        assert message in said[-1]
