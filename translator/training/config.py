"""How a model is trained: plain frozen values, checked before anything is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from translator.errors import UserError
from translator.model.config import from_dict

Accelerator = Literal["auto", "cpu", "gpu"]
Precision = Literal["auto", "32-true", "bf16-mixed", "16-mixed"]
Monitor = Literal["bleu", "loss"]
ScheduleKind = Literal["inverse_sqrt", "cosine", "constant"]


@dataclass(frozen=True)
class OptimizerConfig:
    """AdamW (Loshchilov 2019, 1711.05101); weight decay on matrices only."""

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-9
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        for name in ("lr", "eps"):
            if not getattr(self, name) > 0.0:
                raise UserError(f"optimizer.{name} must be above 0, not {getattr(self, name)}")
        if len(self.betas) != 2 or not all(0.0 <= beta < 1.0 for beta in self.betas):
            raise UserError(f"optimizer.betas must be two numbers of at least 0 and below 1, not {list(self.betas)}")
        if self.weight_decay < 0.0:
            raise UserError(f"optimizer.weight_decay must be at least 0, not {self.weight_decay}")


@dataclass(frozen=True)
class ScheduleConfig:
    """How the learning rate moves with the number of updates; see `schedule`."""

    kind: ScheduleKind = "inverse_sqrt"
    warmup: int = 1000

    def __post_init__(self) -> None:
        _one_of("schedule.kind", self.kind, get_args(ScheduleKind))
        _at_least("schedule.warmup", self.warmup, 0)


@dataclass(frozen=True)
class BatchConfig:
    """What goes into a batch; see `TokenBudgetSampler`."""

    max_tokens: int = 4096
    max_sentences: int | None = None
    max_length: int | None = 256


@dataclass(frozen=True)
class TrainerConfig:
    """Where and how long training runs, and how often it looks up."""

    accelerator: str = "auto"
    devices: int | str = 1
    strategy: str = "auto"
    precision: str = "auto"
    threads: int | None = None
    max_epochs: int | None = 30
    max_updates: int | None = None
    max_minutes: float | None = None
    accumulate_grad_batches: int = 1
    gradient_clip: float = 1.0
    ema_decay: float = 0.999
    validate_every: int | None = None
    monitor: Monitor = "bleu"
    patience: int | None = None
    save_every: int = 500

    def __post_init__(self) -> None:
        if self.max_epochs is None and self.max_updates is None and self.max_minutes is None:
            raise UserError("trainer: give max_epochs, max_updates or max_minutes, or training never ends")
        _one_of("trainer.accelerator", self.accelerator, get_args(Accelerator))
        _one_of("trainer.precision", self.precision, get_args(Precision))
        _one_of("trainer.monitor", self.monitor, get_args(Monitor))
        for name in (
            "max_epochs",
            "max_updates",
            "accumulate_grad_batches",
            "validate_every",
            "patience",
            "save_every",
            "threads",
        ):
            _at_least(f"trainer.{name}", getattr(self, name), 1)
        if self.max_minutes is not None and not self.max_minutes > 0.0:
            raise UserError(f"trainer.max_minutes must be above 0, not {self.max_minutes}")
        if self.gradient_clip < 0.0:
            raise UserError(f"trainer.gradient_clip must be at least 0 (off), not {self.gradient_clip}")
        if not 0.0 <= self.ema_decay < 1.0:
            raise UserError(f"trainer.ema_decay must be at least 0 (off) and below 1, not {self.ema_decay}")


@dataclass(frozen=True)
class TrainingConfig:
    """The whole of a run, except the corpus, the tokenizer, the model and how translations are searched."""

    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    batch: BatchConfig = field(default_factory=BatchConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    label_smoothing: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0.0 <= self.label_smoothing < 1.0:
            raise UserError(f"label_smoothing must be at least 0 and below 1, not {self.label_smoothing}")
        if self.schedule.kind == "cosine" and self.trainer.max_epochs is None and self.trainer.max_updates is None:
            raise UserError(
                "schedule=cosine needs to know the end: give trainer.max_epochs or trainer.max_updates, "
                "or take schedule=inverse_sqrt"
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TrainingConfig":
        """Build from plain nested values; unknown keys are refused by name."""
        optimizer = dict(values["optimizer"])
        optimizer["betas"] = tuple(optimizer.get("betas", OptimizerConfig.betas))
        return cls(
            optimizer=from_dict(OptimizerConfig, optimizer, "optimizer"),
            schedule=from_dict(ScheduleConfig, values["schedule"], "schedule"),
            batch=from_dict(BatchConfig, values["batch"], "batch"),
            trainer=from_dict(TrainerConfig, values["trainer"], "trainer"),
            label_smoothing=values["label_smoothing"],
            seed=values["seed"],
        )


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UserError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _at_least(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise UserError(f"{name} must be at least {least}, not {value}")
