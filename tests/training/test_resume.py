"""A run that was stopped and resumed is, bit by bit, the run that was not."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.pytorch import Trainer

from tests.training.runs import curves, fingerprints, resumed, settings_for, state
from translator import files
from translator.errors import UserError
from translator.training import run as run_module
from translator.training import trainer as trainer_module
from translator.training.config import ScheduleConfig
from translator.training.module import TranslationModule
from translator.training.run import train
from translator.training.step import schedule
from translator.training.validation import Validation

PLAIN = ("model.dropout=0.2", "trainer.ema_decay=0.9")
VARIANTS = {
    "average, dropout": PLAIN,
    "accumulation, sampled subwords": (*PLAIN, "trainer.accumulate_grad_batches=2", "tokenizer.sampling=0.2"),
    "by updates": (*PLAIN, "trainer.max_epochs=null", "trainer.max_updates=13", "trainer.validate_every=4"),
    "no average, saved with validations": ("model.dropout=0.2", "trainer.ema_decay=0", "trainer.save_every=5"),
}


class Killed(BaseException):
    """Nothing in the program may catch this."""


@pytest.fixture(autouse=True)
def every_update_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "Trainer", lambda **options: Trainer(**options | {"log_every_n_steps": 1}))


@pytest.fixture(scope="module")
def whole_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Path]]:
    """The folder of an uninterrupted run with these overrides, trained once."""
    folder, names = tmp_path_factory.mktemp("whole"), {}

    def whole(*overrides: str) -> Path:
        if overrides not in names:
            names[overrides] = f"run{len(names)}"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(trainer_module, "Trainer", lambda **o: Trainer(**o | {"log_every_n_steps": 1}))
                train(settings_for(folder, *overrides, name=names[overrides]))
        return folder / names[overrides]

    return whole


def stop_at(call: int, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the ``call``-th call of a function the last thing that happens."""
    function, calls = getattr(owner, name), []

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise Killed
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)


def figures(folder: Path) -> dict[str, Any]:
    """The metrics but for what depends on the clock."""
    metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    for part in (metrics, *(value for value in metrics.values() if isinstance(value, dict))):
        for key in ("seconds", "sentences_per_second", "tokens_per_second", "commit", "asked"):
            part.pop(key, None)
    return metrics


def assert_equal(left: Any, right: Any, where: str = "") -> None:
    """Nested values with tensors, compared exactly."""
    if isinstance(left, torch.Tensor):
        assert torch.equal(left, right), where
    elif isinstance(left, dict):
        assert left.keys() == right.keys(), where
        for key in left:
            assert_equal(left[key], right[key], f"{where}.{key}")
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), where
        for index, pair in enumerate(zip(left, right, strict=True)):
            assert_equal(*pair, f"{where}.{index}")
    else:
        assert left == right, where


def assert_same_run(found: Path, wanted: Path) -> None:
    assert (found / "model.safetensors").read_bytes() == (wanted / "model.safetensors").read_bytes()
    assert figures(found) == figures(wanted)
    assert curves(found) == curves(wanted)
    assert_equal(
        {key: value for key, value in state(found).items() if key != "loops"},
        {key: value for key, value in state(wanted).items() if key != "loops"},
    )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("batch", [2, 9, 11])
def test_stopped_within_an_epoch(
    variant: str, batch: int, whole_runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = whole_runs(*VARIANTS[variant])
    settings = settings_for(tmp_path, *VARIANTS[variant])
    settings["data"] = settings_for(whole.parent, *VARIANTS[variant])["data"]
    with monkeypatch.context() as patch:
        stop_at(batch, TranslationModule, "training_step", patch)
        with pytest.raises(Killed):
            train(settings)
    resumed(settings)
    assert_same_run(tmp_path / "run", whole)


def test_sampling_of_subwords_is_noticed(whole_runs: Any) -> None:
    sampled = VARIANTS["accumulation, sampled subwords"]
    weights = [(whole_runs(*overrides) / "model.safetensors").read_bytes() for overrides in (sampled, sampled[:-1])]
    assert weights[0] != weights[1]


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        (Validation, "_translate", 1),
        (Validation, "_translate", 2),
        (Validation, "_report", 2),
        (files.os, "replace", 5),  # settings, tokenizer, configuration, best weights, state
        (files.os, "replace", 9),
        (trainer_module.LastState, "on_validation_end", 3),
    ],
)
def test_stopped_in_validation_or_while_saving(
    owner: Any, name: str, call: int, whole_runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = whole_runs(*PLAIN, "trainer.save_every=5")
    settings = settings_for(tmp_path, *PLAIN, "trainer.save_every=5")
    settings["data"] = settings_for(whole.parent)["data"]
    with monkeypatch.context() as patch:
        stop_at(call, owner, name, patch)
        with pytest.raises(Killed):
            train(settings)
    resumed(settings)
    assert_same_run(tmp_path / "run", whole)
    assert not list(tmp_path.rglob("*.tmp"))


def test_stopped_again_and_again(whole_runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variant = VARIANTS["accumulation, sampled subwords"]
    whole = whole_runs(*variant)
    settings = settings_for(tmp_path, *variant) | {"resume": "auto"}
    settings["data"] = settings_for(whole.parent)["data"]
    for batch in (7, 6, 3):
        with monkeypatch.context() as patch:
            stop_at(batch, TranslationModule, "training_step", patch)
            with pytest.raises(Killed):
                train(settings)
    train(settings)
    assert_same_run(tmp_path / "run", whole)


@pytest.mark.parametrize("variant", ["average, dropout", "by updates"])
def test_stopped_in_the_final_scoring(
    variant: str, whole_runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = whole_runs(*VARIANTS[variant])
    settings = settings_for(tmp_path, *VARIANTS[variant])
    settings["data"] = settings_for(whole.parent)["data"]
    with monkeypatch.context() as patch:
        stop_at(1, run_module, "measure", patch)
        with pytest.raises(Killed):
            train(settings)
    resumed(settings)
    assert_same_run(tmp_path / "run", whole)


def test_nothing_is_left_to_do_in_a_finished_run(whole_runs: Any, caplog: pytest.LogCaptureFixture) -> None:
    folder = whole_runs(*PLAIN)
    before = fingerprints(folder)
    settings = settings_for(folder.parent, *PLAIN, name=folder.name)
    with caplog.at_level("INFO", logger="translator"):
        last = resumed(settings)
    assert "is finished: nothing left to do" in caplog.text
    assert last["updates"] == figures(folder)["updates"]
    with pytest.raises(UserError, match="never overwritten"):
        train(settings)
    assert fingerprints(folder) == before


@pytest.mark.parametrize("variant", ["average, dropout", "accumulation, sampled subwords"])
def test_a_later_end_is_reached_as_if_it_had_been_asked_for_at_once(
    variant: str, whole_runs: Any, tmp_path: Path
) -> None:
    whole = whole_runs(*VARIANTS[variant])
    settings = settings_for(tmp_path, *VARIANTS[variant])
    settings["data"] = settings_for(whole.parent)["data"]
    for epochs in (1, 2, 3):
        settings["trainer"]["max_epochs"] = epochs
        assert resumed(settings)["epochs"] == epochs
    assert_same_run(tmp_path / "run", whole)


def test_a_later_number_of_updates_goes_on_within_the_epoch(whole_runs: Any, tmp_path: Path) -> None:
    whole = whole_runs(*VARIANTS["by updates"])
    settings = settings_for(tmp_path, *VARIANTS["by updates"])
    settings["data"] = settings_for(whole.parent)["data"]
    for updates in (7, 13):
        settings["trainer"]["max_updates"] = updates
        assert resumed(settings)["updates"] == updates
    assert_equal(state(tmp_path / "run")["current_model_state"], state(whole)["current_model_state"])
    extra = {(6, "valid_bleu"), (6, "valid_loss")}  # the shorter run ended with a validation
    found, wanted = curves(tmp_path / "run"), curves(whole)
    assert found.keys() - wanted.keys() == extra
    assert {key: value for key, value in found.items() if key not in extra} == wanted


def test_a_cosine_goes_on_along_its_new_course_from_the_first_update(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "schedule=cosine", "schedule.warmup=3", "trainer.max_epochs=1")
    per_epoch = train(settings)["updates"]
    settings["trainer"]["max_epochs"] = 3
    resumed(settings)
    name = next(name for _, name in curves(tmp_path / "run") if name.startswith("lr"))
    rates = [curves(tmp_path / "run")[update, name] for update in range(3 * per_epoch)]
    plan = ScheduleConfig("cosine", 3)
    courses = [schedule(plan, per_epoch)(done) for done in range(per_epoch)]
    courses += [schedule(plan, 3 * per_epoch)(done) for done in range(per_epoch, 3 * per_epoch)]
    assert rates == pytest.approx([0.02 * factor for factor in courses], abs=1e-9)
    assert math.isclose(rates[per_epoch - 1], 0.0, abs_tol=1e-9)
    assert rates[per_epoch] > 0.005


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("model", lambda settings: settings["model"].update(d_ff=19)),
        ("tokenizer", lambda settings: settings["tokenizer"].update(vocab_size=61)),
        ("seed", lambda settings: settings.update(seed=2)),
        ("data", lambda settings: settings["data"].update(test=settings["data"]["valid"])),
        ("optimizer", lambda settings: settings["optimizer"].update(lr=0.01)),
    ],
)
def test_another_model_or_other_data_do_not_go_on_with_a_run(
    part: str, change: Callable[[dict[str, Any]], None], whole_runs: Any
) -> None:
    folder = whole_runs(*PLAIN)
    before = fingerprints(folder)
    settings = settings_for(folder.parent, *PLAIN, "trainer.max_epochs=4", name=folder.name)
    change(settings)
    with pytest.raises(UserError, match=rf"cannot resume .*: {part}[.\w]* was"):
        resumed(settings)
    assert fingerprints(folder) == before


def test_changed_files_do_not_go_on_with_a_run(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "trainer.max_epochs=1")
    train(settings)
    target = Path(settings["data"]["test"][1])
    target.write_text(target.read_text(encoding="utf-8") + "LU\n", encoding="utf-8")
    source = Path(settings["data"]["test"][0])
    source.write_text(source.read_text(encoding="utf-8") + "lu\n", encoding="utf-8")
    settings["trainer"]["max_epochs"] = 2
    with pytest.raises(UserError, match=r"cannot resume .*: fingerprint was"):
        resumed(settings)


def test_other_batches_do_not_go_on_with_a_run(whole_runs: Any) -> None:
    folder = whole_runs(*PLAIN)
    settings = settings_for(folder.parent, *PLAIN, "trainer.max_epochs=4", "batch.max_tokens=90", name=folder.name)
    before = (folder / "training/last.ckpt").read_bytes()
    with pytest.raises(UserError, match=r"cannot resume exactly, as batches differ: .*max_tokens was 110, is 90"):
        resumed(settings)
    assert (folder / "training/last.ckpt").read_bytes() == before


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("damage", ["torn", "malicious"])
def test_a_state_that_cannot_be_trusted_is_refused(damage: str, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "trainer.max_epochs=1")
    train(settings)
    last = tmp_path / "run/training/last.ckpt"
    if damage == "torn":
        last.write_bytes(last.read_bytes()[:-1000])
    else:
        torch.save({**state(tmp_path / "run"), "more": Evil(tmp_path / "pwned")}, last)
    settings["trainer"]["max_epochs"] = 2
    with pytest.raises(UserError, match=r"last\.ckpt: damaged or not a state of training of this program"):
        resumed(settings)
    assert not (tmp_path / "pwned").exists()


def test_a_full_disk_is_told_and_leaves_the_older_state_whole(
    whole_runs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = whole_runs(*PLAIN)
    settings = settings_for(tmp_path, *PLAIN)
    settings["data"] = settings_for(whole.parent)["data"]
    save, calls = Trainer.save_checkpoint, []

    def fill(trainer: Trainer, path: Path) -> None:
        calls.append(1)
        if len(calls) == 3:
            path.write_bytes(b"half of it")
            raise OSError(28, "No space left on device")
        save(trainer, path)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "save_checkpoint", fill)
        with pytest.raises(UserError, match=r"no space left for .*run: make room, then go on by resume=auto"):
            train(settings)
    assert state(tmp_path / "run")["global_step"] == 6
    resumed(settings)
    assert_same_run(tmp_path / "run", whole)
