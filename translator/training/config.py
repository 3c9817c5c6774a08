"""Settings that are checked: what becomes of the composed plain dict before anything is loaded.

Every key is given by the files in conf/, which have its default and say what it is for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translator.data.tokenizer import Tokenizer
from translator.errors import UserError, at_least, one_of, positive
from translator.model.config import from_dict

NUMBERS = ("n_kv_heads", "window", "stride", "top_k")
#: The kinds of attention and the number that each needs; one with a pattern may have fewer key/value heads, too.
KINDS = {"mha": None, "gqa": "n_kv_heads", "mqa": None, "window": "window", "strided": "stride", "topk": "top_k"}
SITES = ("encoder", "decoder", "cross")


@dataclass(frozen=True)
class OptimizerConfig:
    """AdamW (Loshchilov 2019, 1711.05101); weight decay on matrices only."""

    lr: float
    betas: Sequence[float]
    eps: float
    weight_decay: float

    def __post_init__(self) -> None:
        positive("optimizer.lr", self.lr)
        positive("optimizer.eps", self.eps)
        if len(self.betas) != 2 or not all(0.0 <= beta < 1.0 for beta in self.betas):
            raise UserError(f"optimizer.betas must be two numbers of at least 0 and below 1, not {list(self.betas)}")
        if self.weight_decay < 0.0:
            raise UserError(f"optimizer.weight_decay must be at least 0, not {self.weight_decay}")


@dataclass(frozen=True)
class ScheduleConfig:
    """How the learning rate moves with the number of updates; see `schedule`."""

    kind: str
    warmup: int

    def __post_init__(self) -> None:
        one_of("schedule.kind", self.kind, ("inverse_sqrt", "cosine", "constant"))
        at_least("schedule.warmup", self.warmup, 0)


@dataclass(frozen=True)
class BatchConfig:
    """What goes into a batch; see `TokenBudgetSampler`."""

    max_tokens: int
    max_sentences: int | None
    max_length: int | None


@dataclass(frozen=True)
class TrainerConfig:
    """Where and how long training runs, and how often it looks up."""

    accelerator: str
    devices: int | str
    strategy: str
    precision: str
    threads: int | None
    max_epochs: int | None
    max_updates: int | None
    max_minutes: float | None
    accumulate_grad_batches: int
    gradient_clip: float
    ema_decay: float
    validate_every: int | None
    monitor: str
    patience: int | None
    save_every: int

    def __post_init__(self) -> None:
        if all(end is None for end in self.ends.values()):
            raise UserError("trainer: give max_epochs, max_updates or max_minutes, or training never ends")
        one_of("trainer.accelerator", self.accelerator, ("auto", "cpu", "gpu"))
        one_of("trainer.precision", self.precision, ("auto", "32-true", "bf16-mixed", "16-mixed"))
        one_of("trainer.monitor", self.monitor, ("bleu", "loss"))
        counts = ("max_epochs", "max_updates", "validate_every", "patience", "threads")
        for name in ("accumulate_grad_batches", "save_every", *(n for n in counts if getattr(self, n) is not None)):
            at_least(f"trainer.{name}", getattr(self, name), 1)
        if self.max_minutes is not None:
            positive("trainer.max_minutes", self.max_minutes)
        if self.gradient_clip < 0.0:
            raise UserError(f"trainer.gradient_clip must be at least 0 (off), not {self.gradient_clip}")
        if not 0.0 <= self.ema_decay < 1.0:
            raise UserError(f"trainer.ema_decay must be at least 0 (off) and below 1, not {self.ema_decay}")

    @property
    def ends(self) -> dict[str, float | None]:
        """What decides when a run ends, whichever comes first."""
        return {"max_epochs": self.max_epochs, "max_updates": self.max_updates, "max_minutes": self.max_minutes}


@dataclass(frozen=True)
class TrainingConfig:
    """The whole of a run, except the corpus, the tokenizer, the model and how translations are searched."""

    optimizer: OptimizerConfig
    schedule: ScheduleConfig
    batch: BatchConfig
    trainer: TrainerConfig
    label_smoothing: float
    seed: int

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
        return cls(
            from_dict(OptimizerConfig, values["optimizer"], "optimizer"),
            from_dict(ScheduleConfig, values["schedule"], "schedule"),
            from_dict(BatchConfig, values["batch"], "batch"),
            from_dict(TrainerConfig, values["trainer"], "trainer"),
            values["label_smoothing"],
            values["seed"],
        )


def run_name(settings: Mapping[str, Any]) -> str:
    """The folder's name: as given, else the corpus and the language pair; in a sweep with what is swept.

    Raises UserError for a name that would leave the folder of checkpoints.
    """
    data = settings["data"]
    corpus = Path(str(data.get("path"))).name if data["kind"] == "hub" else data["kind"]
    default = f"{corpus}-{data['source']}-{data['target']}"
    name = str(settings["name"] or ("pocket" if (corpus, data["source"]) == ("pocket", "en") else default))
    if settings["variant"]:
        name += f"_{settings['variant']}"
    if name in (".", "..") or re.search(r"[/\\\\\0]", name):
        raise UserError(f"name={name} must be a plain folder name; the folder above it is set by checkpoints=...")
    return name


def absolute_paths(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data settings with paths that hold wherever the next command is typed."""

    def absolute(value: Any) -> Any:
        if isinstance(value, str):
            return str(Path(value).absolute())
        return [absolute(item) for item in value] if isinstance(value, list) else value

    keys = {"multi30k": ("root",), "files": ("train", "valid", "test")}.get(data["kind"], ())
    if data["kind"] == "hub" and Path(str(data["path"])).exists():
        keys = ("path",)
    return {key: absolute(value) if key in keys else value for key, value in data.items()}


def model_settings(settings: Mapping[str, Any], tokenizer: Tokenizer) -> dict[str, Any]:
    """The model's settings with what only the tokenizer and the choice of attention can tell; raises as both below."""
    check_numbers(settings["attention"])
    ids = {name: getattr(tokenizer, name) for name in ("pad_id", "unk_id", "bos_id", "eos_id")}
    sites = {f"{site}_attention": attention_site(settings["attention"], site) for site in SITES}
    return {**settings["model"], **sites, **ids, "vocab_size": tokenizer.vocab_size}


def check_numbers(attention: Mapping[str, Any]) -> None:
    """Raise UserError where a number is given that no site's kind takes: it would change nothing without a word."""
    kinds = {attention[site] or attention["kind"] for site in SITES}
    for number in NUMBERS:
        takers = [kind for kind, needed in KINDS.items() if needed and number in ("n_kv_heads", needed)]
        if attention.get(number) is not None and kinds.isdisjoint(takers):
            raise UserError(
                f"attention.{number}={attention[number]} would change nothing: it belongs to attention="
                f"{', '.join(takers)}, and here is {', '.join(sorted(kinds))}; leave it out, or change the kind"
            )


def attention_site(attention: Mapping[str, Any], site: str) -> dict[str, int | None]:
    """The kind of attention at one site, its own where one is named, as numbers.

    A pattern that is common to all sites leaves cross-attention whole where it compares positions.
    Raises UserError for an unknown kind, one that lacks its number, or a pattern of positions for cross-attention.
    """
    kind = attention[site] or attention["kind"]
    one_of(f"attention for {site}", kind, KINDS)
    needed = KINDS[kind]
    numbers: dict[str, int | None] = dict.fromkeys(NUMBERS)
    numbers["n_kv_heads"] = 1 if kind == "mqa" else attention["n_kv_heads"] if needed else None
    if kind in ("window", "strided") and site == "cross":
        if attention[site]:
            raise UserError(
                f"attention.cross={kind} has no meaning: positions of two sentences cannot be compared; "
                "choose mha, gqa, mqa or topk"
            )
    elif needed:
        if attention.get(needed) is None:
            raise UserError(f"attention={kind} needs attention.{needed}=...")
        numbers[needed] = attention[needed]
    return numbers
