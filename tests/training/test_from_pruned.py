"""Training that starts from given weights, such as those of a pruned bundle."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.scripts import load
from tests.training.runs import settings_for
from translator.bundle import load_bundle, save_new
from translator.compression.pruning import prune_bundle
from translator.errors import UserError
from translator.inference.translator import Translator
from translator.inspection.heads.names import Head
from translator.training.run import train

pytestmark = pytest.mark.usefixtures("level")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("trained")
    settings = settings_for(folder, "trainer.max_epochs=1", "batch.max_tokens=500")
    train(settings)
    return folder, settings


def test_a_pruned_bundle_is_trained_on_with_its_corpus(
    trained: tuple[Path, dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> None:
    folder, settings = trained
    script = load("prune_heads")
    heads = ["--heads", "dec.cross.0:1", "--heads", "dec.self.0:0,1"]
    output = folder / "small"
    assert script.main([str(folder / "run"), *heads, "--output", str(output), "--finetune", "1"]) == 0
    assert json.loads(capfd.readouterr().out.splitlines()[-1].split(maxsplit=1)[1])["epochs"] == 1
    assert load_bundle(output).model.config.pruned_heads == {"cross.0": [1], "decoder.0": [0, 1]}
    metrics = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["parameters"] == sum(p.numel() for p in load_bundle(output).model.parameters())
    used = json.loads((output / "training/settings.json").read_text(encoding="utf-8"))
    assert used["optimizer"]["lr"] == settings["optimizer"]["lr"] / 4
    assert used["data"] == json.loads((output / "config.json").read_text(encoding="utf-8"))["data"]
    assert len(Translator.load(output).translate(["ba ko"])) == 1


def test_a_bundle_with_shared_heads_is_trained_on_with_its_corpus(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, first = trained
    output = folder / "shared"
    command = [str(folder / "run"), "--kv-heads", "1", "--output", str(output), "--finetune", "1"]
    assert load("share_heads").main(command) == 0
    model = load_bundle(output).model
    assert model.config.decoder_attention.n_kv_heads == model.config.cross_attention.n_kv_heads == 1
    assert len(Translator.load(output).translate(["ba ko"])) == 1
    settings = json.loads((output / "training/settings.json").read_text(encoding="utf-8"))
    assert settings["optimizer"]["lr"] == first["optimizer"]["lr"]  # averages have far to go
    again = {**settings, "resume": "auto", "trainer": {**settings["trainer"], "max_epochs": 2}}
    assert train(again)["epochs"] == 2  # what it was begun with need not be there any more


def test_training_starts_from_a_pruned_bundle_and_resumes(trained: tuple[Path, dict[str, Any]]) -> None:
    folder, settings = trained
    gone = [Head("encoder", 0, 0), Head("encoder", 0, 1)]
    save_new(prune_bundle(load_bundle(folder / "run"), gone), folder / "start")
    more = {**settings, "name": "more", "init_from": str(folder / "start"), "seed": 5}
    still = {**more, "name": "still", "optimizer": {**settings["optimizer"], "lr": 1e-12}}
    train(still)
    start, unmoved = (load_bundle(folder / name).model for name in ("start", "still"))
    for before, after in zip(start.parameters(), unmoved.parameters(), strict=True):
        torch.testing.assert_close(before, after, rtol=0, atol=1e-6)
    train(more)
    longer = {**more, "trainer": {**more["trainer"], "max_epochs": 2}, "resume": "auto"}
    assert train(longer)["epochs"] == 2
    assert load_bundle(folder / "more").model.config == start.config
    with pytest.raises(UserError, match=r"cannot resume .*more: model\.pruned_heads was"):
        train({**longer, "trainer": {**more["trainer"], "max_epochs": 3}, "init_from": None})
