"""A run's folder is claimed once, never overwritten, and taken up again only by the same run."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import torch

from translator.errors import UserError
from translator.files import write_json
from translator.model.config import ModelConfig
from translator.training.run_directory import RunDirectory

SETTINGS: dict[str, Any] = {
    "model": ModelConfig(7, d_model=8).to_dict(),
    "optimizer": {"lr": 0.1, "betas": [1, 2]},
    "data": {"kind": "files", "train": ["a", "b"]},
    "tokenizer": {"kind": "bpe", "vocab_size": 7},
    "seed": 1,
    "fingerprint": "abc",
    "trainer": {"max_epochs": 2, "monitor": "bleu", "patience": None},
}


@pytest.fixture
def claimed(tmp_path: Path) -> RunDirectory:
    directory = RunDirectory(tmp_path / "checkpoints/über=1")
    directory.claim(SETTINGS, None)
    return directory


def test_a_claim_keeps_the_settings(claimed: RunDirectory) -> None:
    assert json.loads(claimed.settings.read_text(encoding="utf-8")) == SETTINGS


def test_a_folder_in_use_is_refused(claimed: RunDirectory) -> None:
    for call in (lambda: claimed.check(None), lambda: claimed.claim(SETTINGS, None)):
        with pytest.raises(UserError, match=r"never overwritten: go on with it by resume=auto, or choose another name"):
            call()


def test_a_folder_of_something_else_is_refused_even_for_resuming(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    with pytest.raises(UserError, match="photos is not a run of this program"):
        RunDirectory(tmp_path / "photos").check("auto")


@pytest.mark.parametrize("resume", ["always", True, "last.ckpt"])
def test_resume_has_one_meaning(tmp_path: Path, resume: Any) -> None:
    with pytest.raises(UserError, match="resume must be auto or null, not"):
        RunDirectory(tmp_path / "new").check(resume)


def test_of_claims_at_the_same_moment_one_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Barrier(5)
    monkeypatch.setattr(RunDirectory, "check", lambda self, resume: None)  # all have found the folder free
    exists = Path.exists

    def meet(path: Path) -> bool:
        found = exists(path)
        if path.name == "run":
            gate.wait()
        return found

    monkeypatch.setattr(Path, "exists", meet)

    def claim(seed: int) -> str:
        try:
            RunDirectory(tmp_path / "run").claim({**SETTINGS, "seed": seed}, None)
        except UserError as error:
            return str(error)
        return f"won by {seed}"

    with ThreadPoolExecutor(5) as pool:
        outcomes = list(pool.map(claim, range(5)))
    (winner,) = [outcome for outcome in outcomes if outcome.startswith("won")]
    assert sum("was taken by another run just now" in outcome for outcome in outcomes) == 4
    kept = json.loads((tmp_path / "run/training/settings.json").read_text(encoding="utf-8"))
    assert winner == f"won by {kept['seed']}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model.d_model", 16),
        ("model.cross_attention", {"n_kv_heads": 1}),
        ("model.pruned_heads", {"cross.0": [1]}),
        ("data.train", ["a", "c"]),
        ("tokenizer.kind", "unigram"),
        ("optimizer.lr", 0.2),
        ("trainer.patience", 3),
        ("trainer.monitor", "loss"),
        ("seed", 2),
        ("fingerprint", "abd"),
    ],
)
def test_a_run_with_another_part_is_not_resumed(claimed: RunDirectory, name: str, value: object) -> None:
    with pytest.raises(UserError, match=rf"cannot resume .*: {name} was .* and is now .*; give the same settings"):
        claimed.claim(changed(name, value), "auto")
    assert json.loads(claimed.settings.read_text(encoding="utf-8")) == SETTINGS


def changed(name: str, value: object) -> dict[str, Any]:
    part, _, key = name.partition(".")
    return {**SETTINGS, part: {**SETTINGS[part], key: value} if key else value}


def test_the_horizon_may_change(claimed: RunDirectory) -> None:
    claimed.claim(changed("trainer.max_epochs", 3), "auto")


def test_settings_of_before_a_key_was_known_still_hold(claimed: RunDirectory) -> None:
    model = {key: SETTINGS["model"][key] for key in ("vocab_size", "d_model", "n_heads", "positions")}
    older = {**SETTINGS, "model": {**model, "encoder_attention": {"n_kv_heads": None, "window": None}}}
    write_json(claimed.settings, older)
    new = {"tokenizer": {**SETTINGS["tokenizer"], "new": 1}, "optimizer": {**SETTINGS["optimizer"], "new": 1}}
    claimed.claim({**SETTINGS, **new}, "auto")
    with pytest.raises(UserError, match=r"cannot resume .*: model.norm was pre and is now post"):
        claimed.claim(changed("model.norm", "post"), "auto")


def test_the_seed_that_older_runs_remember_of_the_pocket_corpus_is_not_compared(tmp_path: Path) -> None:
    data = {"kind": "pocket", "source": "en", "target": "de", "train_size": 19}
    directory = RunDirectory(tmp_path / "run")
    directory.claim({**SETTINGS, "data": {**data, "seed": 7}}, None)
    directory.claim({**SETTINGS, "data": data}, "auto")
    with pytest.raises(UserError, match=r"cannot resume .*: fingerprint was abc and is now abd"):
        directory.claim({**SETTINGS, "data": data, "fingerprint": "abd"}, "auto")


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_a_state_that_would_run_code_is_refused_and_not_run(claimed: RunDirectory, tmp_path: Path) -> None:
    torch.save({"global_step": 3, "state_dict": Evil(tmp_path / "pwned")}, claimed.last)
    with pytest.raises(UserError, match=r"last\.ckpt: damaged or not a state of training of this program"):
        claimed.updates_done()
    claimed.last.write_bytes(pickle.dumps(Evil(tmp_path / "pwned")))
    with pytest.raises(UserError, match=r"last\.ckpt: damaged or not a state of training of this program"):
        claimed.updates_done()
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("keep", [0, 11, 400])
def test_a_torn_state_is_refused(claimed: RunDirectory, keep: int) -> None:
    torch.save({"global_step": 3, "state_dict": {"weight": torch.zeros(101)}}, claimed.last)
    assert claimed.updates_done() == 3
    claimed.last.write_bytes(claimed.last.read_bytes()[:keep])
    with pytest.raises(UserError, match=r"last\.ckpt: damaged .*remove it to start this run from the beginning"):
        claimed.updates_done()
