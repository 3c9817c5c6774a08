"""Values that make no sense are refused by name before anything is loaded."""

from typing import Any

import pytest

from tests.training.runs import composed
from translator.errors import UserError
from translator.training.config import TrainingConfig


def values(**groups: dict[str, Any]) -> dict[str, Any]:
    """What conf/ gives, with some keys changed."""
    settings = composed()
    return settings | {group: settings[group] | changed for group, changed in groups.items()}


@pytest.mark.parametrize(
    ("group", "key", "value", "message"),
    [
        ("optimizer", "lr", 0.0, r"optimizer\.lr must be above 0, not 0\.0"),
        ("optimizer", "eps", -1e-9, r"optimizer\.eps must be above 0"),
        ("optimizer", "betas", [0.9, 1.0], r"optimizer\.betas must be two numbers .* not \[0\.9, 1\.0\]"),
        ("optimizer", "betas", [0.9], r"optimizer\.betas must be two numbers"),
        ("optimizer", "weight_decay", -0.1, r"optimizer\.weight_decay must be at least 0"),
        ("schedule", "kind", "linear", r"schedule\.kind must be one of inverse_sqrt, cosine, constant, not 'linear'"),
        ("schedule", "warmup", -1, r"schedule\.warmup must be at least 0, not -1"),
        ("trainer", "monitor", "chrf", r"trainer\.monitor must be one of bleu, loss, not 'chrf'"),
        ("trainer", "precision", "bf16", r"trainer\.precision must be one of auto, 32-true, .* not 'bf16'"),
        ("trainer", "accelerator", "tpu", r"trainer\.accelerator must be one of auto, cpu, gpu, not 'tpu'"),
        ("trainer", "accumulate_grad_batches", 0, r"trainer\.accumulate_grad_batches must be at least 1, not 0"),
        ("trainer", "max_epochs", 0, r"trainer\.max_epochs must be at least 1"),
        ("trainer", "max_updates", -1, r"trainer\.max_updates must be at least 1"),
        ("trainer", "max_minutes", 0, r"trainer\.max_minutes must be above 0"),
        ("trainer", "validate_every", 0, r"trainer\.validate_every must be at least 1"),
        ("trainer", "patience", 0, r"trainer\.patience must be at least 1"),
        ("trainer", "save_every", 0, r"trainer\.save_every must be at least 1"),
        ("trainer", "threads", 0, r"trainer\.threads must be at least 1"),
        ("trainer", "gradient_clip", -1.0, r"trainer\.gradient_clip must be at least 0"),
        ("trainer", "ema_decay", 1.0, r"trainer\.ema_decay must be at least 0 \(off\) and below 1, not 1\.0"),
        ("trainer", "max_epochs", 2.5, r"trainer\.max_epochs must be a whole number, not 2\.5"),
        ("trainer", "max_epoch", 3, r"trainer: unknown key 'max_epoch'; did you mean 'max_epochs'\?"),
    ],
)
def test_a_value_out_of_range_is_named(group: str, key: str, value: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        TrainingConfig.from_dict(values(**{group: {key: value}}))


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_is_a_share(smoothing: float) -> None:
    with pytest.raises(UserError, match=r"label_smoothing must be at least 0 and below 1"):
        TrainingConfig.from_dict({**values(), "label_smoothing": smoothing})


def test_a_cosine_needs_an_end_that_is_counted() -> None:
    minutes = {"max_epochs": None, "max_minutes": 5}
    TrainingConfig.from_dict(values(trainer=minutes, schedule={"kind": "inverse_sqrt"}))
    with pytest.raises(UserError, match=r"schedule=cosine needs to know the end"):
        TrainingConfig.from_dict(values(trainer=minutes, schedule={"kind": "cosine"}))


@pytest.mark.parametrize("group", ["optimizer", "schedule", "batch", "trainer"])
def test_no_key_is_made_up(group: str) -> None:
    for key in composed()[group]:
        settings = composed()
        del settings[group][key]
        with pytest.raises(UserError, match=rf"{group}.*{key}"):
            TrainingConfig.from_dict(settings)


def test_training_without_an_end_is_refused() -> None:
    with pytest.raises(UserError, match="max_epochs, max_updates or max_minutes"):
        TrainingConfig.from_dict(values(trainer={"max_epochs": None}))
