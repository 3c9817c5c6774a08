"""The flags of each command, and those that commands share. No torch: help and complaints come at once."""

import argparse
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from benchmarks.settings import MODELS
from translator.device import DEVICES, PRECISIONS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Job = TypeVar("_Job", bound="DataclassInstance")


def add_train(parser: argparse.ArgumentParser) -> None:
    """Optimizer steps on real batches."""
    add_corpus(parser, "pocket", ["tiny"])
    parser.add_argument("--checkpoint", metavar="DIR", help="sizes and vocabulary of this bundle in place of --model")
    add_count(parser, "--batch-tokens", None, "of a batch, padded (as conf/config.yaml has)")
    add_count(parser, "--steps", 30, "updates a round")
    precisions = ("auto", "32-true", "bf16-mixed")
    parser.add_argument("--precision", nargs="+", choices=precisions, default=["auto"], help="as in training (auto)")
    add_running(parser, profile=True)


def add_decode(parser: argparse.ArgumentParser) -> None:
    """A bundle on a file."""
    add_text(parser, [1, 32, 64])
    parser.add_argument("--cache", choices=("on", "off", "both"), default="both", help="keys and values kept (both)")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, default=["float32"], help="(float32)")
    add_running(parser, profile=True)


def add_attention(parser: argparse.ArgumentParser) -> None:
    """Kernels and rules over the length."""
    add_count(parser, "--lengths", [128, 256, 512, 1024, 2048])
    parser.add_argument("--kinds", nargs="+", default=["dense", "window", "strided", "topk"], metavar="K",
                        help="who sees whom (dense window strided topk)")  # fmt: skip
    parser.add_argument("--kernels", nargs="+", default=["fused", "explicit"], metavar="K", help="how it is computed")
    add_count(parser, "--window", 128, "of the sliding window", "W")
    add_count(parser, "--stride", 64, "of the strided pattern")
    add_count(parser, "--top-k", 32, "keys a query keeps", "K")
    add_count(parser, "--d-model", 256, metavar="D")
    add_count(parser, "--n-heads", 8, metavar="H")
    add_running(parser)


def add_growth(parser: argparse.ArgumentParser) -> None:
    """The cost of an output token."""
    add_count(parser, "--lengths", [16, 32, 64, 128, 256], "output tokens at which to look")
    add_count(parser, "--batch", [8, 1, 32], "sentences at a time; all else is measured with the first")
    add_count(parser, "--beam", [1, 5], "likewise")
    _add_random_model(parser)


def add_kinds(parser: argparse.ArgumentParser) -> None:
    """Kinds of attention, side by side."""
    add_count(parser, "--length", 64, "output tokens")
    add_count(parser, "--batch", 64, "sentences at a time")
    add_count(parser, "--beam", 1)
    add_count(parser, "--window", [16], "of self-attention", "W")
    _add_random_model(parser)


def add_report(parser: argparse.ArgumentParser) -> None:
    """A page from rows."""
    parser.add_argument("rows", nargs="+", type=Path, metavar="ROWS", help="files of rows as the other commands write")
    parser.add_argument("--output", type=Path, required=True, metavar="F", help="the page; its prose stays")


def add_count(
    parser: argparse.ArgumentParser, flag: str, default: int | list[int] | None, meaning: str = "", metavar: str = "N"
) -> None:
    """A flag for a whole number from 1 on, or for several where the default is a list; help ends with the default."""
    shown = " ".join(map(str, default)) if isinstance(default, list) else default
    told = meaning if default is None else f"{meaning} ({shown})".lstrip()
    more: dict[str, Any] = {"nargs": "+"} if isinstance(default, list) else {}
    parser.add_argument(flag, type=_count, default=default, metavar=metavar, help=told, **more)


def add_corpus(parser: argparse.ArgumentParser, data: str, models: list[str]) -> None:
    """A corpus, its vocabulary, and the sizes of the models that learn from it."""
    several = "pocket, multi30k, or two parallel files, or a table"
    parser.add_argument("--data", nargs="+", default=[data], metavar="D", help=several)
    parser.add_argument("--root", metavar="DIR", help="local files of multi30k")
    parser.add_argument("--languages", nargs=2, metavar="L", default=["en", "de"], help="source and target (en de)")
    sizes = f"sizes from conf/model ({' '.join(models)})"
    parser.add_argument("--model", nargs="+", choices=MODELS, default=models, help=sizes)
    add_count(parser, "--vocab", 8000, "pieces learned from the data", "V")


def add_text(parser: argparse.ArgumentParser, batches: list[int]) -> None:
    """A bundle, the sentences that it translates, and how."""
    parser.add_argument("--checkpoint", required=True, metavar="DIR", help="the bundle, such as checkpoints/pocket")
    parser.add_argument("--input", required=True, metavar="F", help="sentences, plain or .gz; blank lines are skipped")
    add_count(parser, "--sentences", None, "the first N of them (all)")
    add_count(parser, "--beam", [1, 5], "1 is greedy")
    add_count(parser, "--batch", batches, "sentences at a time")


def add_running(parser: argparse.ArgumentParser, *, profile: bool = False) -> None:
    """How often, and where."""
    add_count(parser, "--rounds", 3, "repetitions, of which the median")
    add_count(parser, "--threads", None, "CPU threads (as many as there are cores)")
    if profile:
        parser.add_argument("--profile", action="store_true", help="also tell on stderr which operations take the time")
    parser.add_argument("--device", choices=DEVICES, default="auto", help="(auto: a GPU where there is one)")


def job(kind: type[_Job], found: argparse.Namespace, **own: Any) -> _Job:
    """A job of this kind: each field as the flag of its name says, where it is not given here."""
    return kind(**{field.name: getattr(found, field.name) for field in fields(kind) if field.name in found} | own)


def _add_random_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", choices=MODELS, default="small", help="sizes from conf/model (small)")
    add_count(parser, "--vocab", 8000, "pieces", "V")
    add_count(parser, "--kv-heads", [2, 1], "besides all")
    add_count(parser, "--source-length", 24, "source tokens")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="(float32)")
    add_running(parser)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
