"""Whole trainings: what is kept, what is refused, odd corpora, and numbers that mean what they say."""

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from lightning.pytorch import Trainer
from safetensors.torch import load_file

from tests import toy
from tests.training.runs import curves, fingerprints, resumed, settings_for, state, write_corpus
from translator.bundle import read_config
from translator.data.corpus import load_split
from translator.data.parallel import ParallelText
from translator.errors import UserError
from translator.evaluation import evaluate
from translator.inference.translator import Translator
from translator.training import trainer as trainer_module
from translator.training import validation as validation_module
from translator.training.run import train

Settings = dict[str, Any]


#: Sixteen pairs by heart, quickly.
LEARNING = (
    "debug=overfit", "model.d_model=32", "model.d_ff=64", "optimizer.lr=0.01", "schedule.warmup=20",
    "trainer.max_epochs=null", "decode.max_length=25",
)  # fmt: skip


@pytest.fixture(scope="module")
def overfit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Settings, dict[str, Any]]:
    """A run that learns by heart: its folder, settings, last line."""
    folder = tmp_path_factory.mktemp("overfit")
    settings = settings_for(folder, *LEARNING, "trainer.max_updates=120", "trainer.validate_every=60")
    return folder / "run", settings, train(settings)


def test_a_handful_of_pairs_is_learned_by_heart(overfit: tuple[Path, Settings, dict[str, Any]]) -> None:
    folder, _, last = overfit
    assert (last["valid_bleu"], last["test_bleu"]) == (pytest.approx(100.0), pytest.approx(100.0))
    lines = toy.sentences(16, 0, 5)
    assert [t.text for t in Translator.load(folder).translate(lines)] == [toy.expected(line) for line in lines]


def test_the_last_line_says_what_the_interface_promises(overfit: tuple[Path, Settings, dict[str, Any]]) -> None:
    folder, _, last = overfit
    parameters = sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())
    assert last["checkpoint"] == str(folder)
    assert last["parameters"] == parameters
    assert last["updates"] == 120
    assert last["signature"].startswith("BLEU|nrefs:1|case:mixed")
    assert {"epochs", "seconds"} <= last.keys()


def test_no_name_in_the_folder_needs_quoting(overfit: tuple[Path, Settings, dict[str, Any]]) -> None:
    names = fingerprints(overfit[0])
    assert "training/last.ckpt" in names
    assert not [name for name in names if "=" in name or " " in name or ".tmp" in name]


def test_training_starts_at_the_loss_of_a_guess_and_loses_what_it_learns(tmp_path: Path, every_update: None) -> None:
    settings = settings_for(tmp_path, "optimizer.lr=1e-3")
    train(settings)
    losses = [value for (_, name), value in curves(tmp_path / "run").items() if name == "train_loss"]
    guess = math.log(70 - 2)
    assert guess < losses[0] < guess + 0.7  # logits of variance 1 cost half a nat more than none
    assert all(map(math.isfinite, losses))
    assert losses[-1] < losses[0]


@pytest.fixture
def every_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "Trainer", lambda **options: Trainer(**options | {"log_every_n_steps": 1}))


def test_validation_logs_what_translating_with_the_bundle_scores(tmp_path: Path) -> None:
    settings = settings_for(
        tmp_path, *LEARNING, "trainer.max_updates=40", "trainer.validate_every=20", "trainer.ema_decay=0.8"
    )
    last, folder = train(settings), tmp_path / "run"
    best = max(value for (_, name), value in curves(folder).items() if name == "valid_bleu")
    assert 5.0 < best < 99.0
    sources, targets = texts(load_split(settings["data"], "train"))
    translator = Translator.load(folder)

    def bleu(**search: Any) -> float:
        return evaluate([t.text for t in translator.translate(sources, **search)], targets).bleu

    assert bleu(beam_size=1, max_length=25) == pytest.approx(best, abs=1e-4)  # greedy; logs are float32
    assert bleu(beam_size=5, max_length=25) == last["valid_bleu"]


def texts(parallel: ParallelText) -> tuple[list[str], list[str]]:
    """The sixteen pairs that are learned by heart."""
    return parallel.sources[:16], parallel.targets[:16]


def test_the_average_is_what_is_kept(tmp_path: Path) -> None:
    train(settings_for(tmp_path, "trainer.ema_decay=0.9", "trainer.max_epochs=2", "trainer.monitor=loss"))
    found, kept = state(tmp_path / "run"), load_file(tmp_path / "run/model.safetensors")
    assert found["callbacks"]["Validation"]["update"] == found["global_step"]  # the last validation was the best
    assert len(kept) > 10
    for name, tensor in kept.items():
        assert torch.equal(tensor, found["state_dict"][f"model.{name}"])
    assert any(not torch.equal(tensor, found["current_model_state"][f"model.{name}"]) for name, tensor in kept.items())


def test_tied_weights_are_stored_once_and_counted_once(overfit: tuple[Path, Settings, dict[str, Any]]) -> None:
    folder, settings, last = overfit
    assert settings["model"]["tie_embeddings"] == "all"
    model = Translator.load(folder).model
    matrix = model.output.weight
    assert sum(tensor.shape == matrix.shape for tensor in load_file(folder / "model.safetensors").values()) == 1
    assert sum(parameter.numel() for parameter in model.parameters()) == last["parameters"]


def kept_update(folder: Path) -> int:
    update = state(folder)["callbacks"]["Validation"]["update"]
    assert isinstance(update, int)
    return update


def scripted(monkeypatch: pytest.MonkeyPatch, bleu: list[float]) -> list[tuple[int, Any]]:
    """Validation scores as told; returns what `save_weights` is given, and when."""
    scores, saved = iter(bleu), []
    monkeypatch.setattr(validation_module, "evaluate", lambda hyp, ref: replace(evaluate(hyp, ref), bleu=next(scores)))
    save = validation_module.save_weights

    def note(directory: Path, model: Any) -> None:
        saved.append({name: p.detach().clone() for name, p in model.named_parameters()})
        save(directory, model)

    monkeypatch.setattr(validation_module, "save_weights", note)
    return saved


def test_the_weights_of_the_highest_bleu_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = scripted(monkeypatch, [3.0, 7.0, 5.0, 6.0])
    train(settings_for(tmp_path, "trainer.max_epochs=4"))
    assert len(saved) == 2
    kept = load_file(tmp_path / "run/model.safetensors")
    assert all(torch.equal(kept[name], tensor) for name, tensor in saved[1].items())
    assert kept_update(tmp_path / "run") == 10
    assert state(tmp_path / "run")["global_step"] == 20  # the newest state, not the best


def test_what_is_reported_at_the_end_is_of_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [9.0, 3.0])  # the better half-trained model is thrown away
    settings = settings_for(tmp_path, *LEARNING, "trainer.max_updates=40", "trainer.validate_every=20")
    last = train(settings)
    sources, targets = texts(load_split(settings["data"], "train"))
    written = [t.text for t in Translator.load(tmp_path / "run").translate(sources, max_length=25)]
    assert last["valid_bleu"] == evaluate(written, targets).bleu
    assert 0.0 < last["valid_bleu"] < 20.0
    assert kept_update(tmp_path / "run") == 20


def test_the_best_so_far_survives_a_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = scripted(monkeypatch, [3.0, 7.0, 5.0, 6.0, 8.0])
    settings = settings_for(tmp_path, "trainer.max_epochs=2")
    train(settings)
    before = (tmp_path / "run/model.safetensors").read_bytes()
    settings["trainer"]["max_epochs"] = 4
    resumed(settings)
    assert (tmp_path / "run/model.safetensors").read_bytes() == before
    settings["trainer"]["max_epochs"] = 5
    resumed(settings)
    assert len(saved) == 3
    assert kept_update(tmp_path / "run") == 25


def test_of_equal_bleu_the_lower_loss_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [0.0, 0.0, 0.0])
    train(settings_for(tmp_path))
    assert kept_update(tmp_path / "run") == 15


def test_the_lowest_loss_is_kept_where_loss_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [9.0, 5.0, 1.0])
    train(settings_for(tmp_path, "trainer.monitor=loss", "trainer.max_epochs=3"))
    losses = {step: value for (step, name), value in curves(tmp_path / "run").items() if name == "valid_loss"}
    assert kept_update(tmp_path / "run") == min(losses, key=lambda step: losses[step]) + 1
    assert min(losses.values()) == losses[14]  # so the highest BLEU was passed over


def test_patience_ends_training_and_the_end_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, [3.0, 7.0, 6.0, 5.0, 4.0, 9.0])
    settings = settings_for(tmp_path, "trainer.max_epochs=6", "trainer.patience=2")
    assert train(settings)["epochs"] == 4
    assert state(tmp_path / "run")["global_step"] == 20
    before = fingerprints(tmp_path / "run")
    assert resumed(settings)["epochs"] == 4
    assert fingerprints(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("pairs", "overrides", "updates"),
    [
        ({"train": 1, "valid": 1, "test": 1}, ("trainer.max_epochs=4",), 4),
        (
            {"train": 20},
            ("batch.max_sentences=64", "batch.max_tokens=10000", "trainer.validate_every=1000",
             "trainer.max_epochs=null", "trainer.max_updates=7"),
            7,
        ),
        ({"train": 20}, ("trainer.accumulate_grad_batches=64", "trainer.validate_every=1000"), 3),
        ({"train": 20}, ("batch.max_sentences=1", "trainer.max_epochs=1"), 20),
        ({"train": 20}, ("batch.max_tokens=3", "trainer.max_epochs=1"), 20),
        ({"train": 20}, ("trainer.max_epochs=null", "trainer.max_minutes=0.0001"), None),
    ],
    ids=["one pair", "validation beyond the end", "window beyond the end", "a pair a batch", "pairs beyond the budget",
         "no time"],
)  # fmt: skip
def test_odd_sizes_train_validate_and_leave_a_model(
    tmp_path: Path, pairs: dict[str, int], overrides: tuple[str, ...], updates: int | None
) -> None:
    write_corpus(tmp_path / "data", **pairs)
    last = train(settings_for(tmp_path, "tokenizer.vocab_size=50", *overrides))
    assert last["updates"] == updates or updates is None
    assert len(Translator.load(tmp_path / "run").translate(["ba di"])) == 1
    assert any(name == "valid_bleu" for _, name in curves(tmp_path / "run"))
    assert state(tmp_path / "run")["global_step"] == last["updates"]


def test_validations_are_counted_in_updates(tmp_path: Path) -> None:
    every = "trainer.validate_every=2"
    train(settings_for(tmp_path, every, "trainer.accumulate_grad_batches=5", "trainer.max_epochs=5"))
    updates = [step + 1 for step, name in curves(tmp_path / "run") if name == "valid_bleu"]
    assert updates == [2, 4, 5]  # an update an epoch, and the end


def test_pairs_with_an_empty_side_are_dropped_in_step_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, every_update: None
) -> None:
    def blank(path: str, number: int) -> None:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        lines[number] = ""
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    paths = write_corpus(tmp_path / "data", train=20)
    for side, number in ((1, 3), (1, 7), (0, 11)):
        blank(paths["train"][side], number)
    with caplog.at_level("INFO", logger="translator"):
        train(settings_for(tmp_path, "batch.max_sentences=1", "trainer.max_epochs=1", "tokenizer.vocab_size=50"))
    assert "17 pairs used, 3 dropped" in caplog.text
    losses = [value for (_, name), value in curves(tmp_path / "run").items() if name == "train_loss"]
    assert len(losses) == 17
    assert all(map(math.isfinite, losses))


def test_a_vocabulary_larger_than_the_text_gives_is_lowered_everywhere(tmp_path: Path) -> None:
    train(settings_for(tmp_path, "tokenizer.vocab_size=8000", "trainer.max_epochs=1"))
    config = read_config(tmp_path / "run")
    assert 50 < config["model"]["vocab_size"] < 1000
    assert Translator.load(tmp_path / "run").tokenizer.vocab_size == config["model"]["vocab_size"]


def refuse(change: Callable[[Settings], None], folder: Path, message: str) -> None:
    """What cannot be trained on is told before anything is written."""
    settings = settings_for(folder)
    change(settings)
    with pytest.raises(UserError, match=message):
        train(settings)
    assert not (folder / "run").exists()


@pytest.mark.parametrize(
    ("group", "key", "value", "message"),
    [
        ("tokenizer", "vocab_size", 5, "vocab"),
        ("tokenizer", "model", "nowhere.model", "nowhere.model"),
        ("data", "train", ["nowhere.aa", "nowhere.bb"], "nowhere.aa"),
        ("data", "valid", None, r"no valid part"),
        ("batch", "max_tokens", 0, "holds nothing"),
        ("batch", "max_length", 0, "no pair"),
        ("trainer", "precision", "bf16", r"trainer\.precision must be one of"),
        ("trainer", "max_epoch", 3, r"did you mean 'max_epochs'"),
        ("model", "d_model", 13, "multiple of n_heads"),
        ("model", "n_decoder_layers", 0, "is no translator: it has no decoder"),
        ("attention", "kind", "gqa", r"attention\.n_kv_heads"),
        ("attention", "cross", "strided", r"attention\.cross=strided has no meaning"),
        ("decode", "beam_size", 0, "beam"),
        ("optimizer", "lr", -1.0, r"optimizer\.lr"),
    ],
)
def test_mistakes_are_told_before_a_folder_exists(
    tmp_path: Path, group: str, key: str, value: object, message: str
) -> None:
    refuse(lambda settings: settings[group].update({key: value}), tmp_path, message)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_told(tmp_path: Path) -> None:
    refuse(lambda settings: settings["trainer"].update(accelerator="gpu"), tmp_path, "has no GPU")


@pytest.mark.parametrize("change", [-1, 1])
def test_files_of_unequal_length_are_refused_with_both_counts(tmp_path: Path, change: int) -> None:
    paths = write_corpus(tmp_path / "data")
    lines = Path(paths["train"][1]).read_text(encoding="utf-8").splitlines()
    lines = lines[:change] if change < 0 else [*lines, "LU"]
    Path(paths["train"][1]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    refuse(lambda settings: None, tmp_path, rf"(?s)train\.aa.*41.*train\.bb.*{41 + change}")


def test_a_tokenizer_of_ones_own_without_padding_gets_it(tmp_path: Path) -> None:
    paths = write_corpus(tmp_path / "data")
    sentencepiece.SentencePieceTrainer.train(
        input=paths["train"][0], model_prefix=str(tmp_path / "own"), vocab_size=40, model_type="bpe", minloglevel=2
    )
    settings = settings_for(tmp_path, "trainer.max_epochs=1")
    settings["tokenizer"]["model"] = str(tmp_path / "own.model")
    train(settings)
    assert (read_config(tmp_path / "run")["model"]["pad_id"], read_config(tmp_path / "run")["model"]["unk_id"]) == (
        40,
        0,
    )
    translator = Translator.load(tmp_path / "run")
    lines = ["Ω", "ba di ko lu me no", "ba Ω", "di"]
    together = translator.score(lines, lines)
    alone = [translator.score([line], [line])[0] for line in lines]
    assert all(map(math.isfinite, together))
    assert together == pytest.approx(alone, abs=1e-4)


def test_paths_are_relative_to_where_the_command_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_corpus(tmp_path / "data")
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    settings = settings_for(tmp_path, "trainer.max_epochs=1")
    for part in ("train", "valid", "test"):
        settings["data"][part] = [f"../../data/{part}.{side}" for side in ("aa", "bb")]
    settings["checkpoints"] = "runs"
    train(settings)
    (tmp_path / "a/b/runs").rename(tmp_path / "moved")
    monkeypatch.chdir("/")
    remembered = read_config(tmp_path / "moved/run")["data"]
    assert len(load_split(remembered, "test").sources) == 4
    settings["data"] = remembered
    settings["checkpoints"] = os.fspath(tmp_path / "moved")
    settings["trainer"]["max_epochs"] = 2
    assert resumed(settings)["epochs"] == 2


def test_three_runs_of_one_sweep_have_folders_of_their_own(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        settings = settings_for(tmp_path, "trainer.max_epochs=1", "debug.pairs=7", "tokenizer.vocab_size=40")
        train(settings | {"seed": seed, "variant": f"seed-{seed}"})
    weights = {(tmp_path / f"run_seed-{seed}/model.safetensors").read_bytes() for seed in (1, 2, 3)}
    assert len(weights) == 3
