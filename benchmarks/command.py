"""Measure speed and memory: a JSON line a row on stdout, medians of several rounds with the extremes beside them.

python scripts/benchmark.py train --data pocket --model tiny        optimizer steps on real batches
python scripts/benchmark.py decode --checkpoint DIR --input FILE    a bundle on a file: beams, batches, cache on and off
python scripts/benchmark.py attention                               kernels and rules over the length
python scripts/benchmark.py growth --model small                    what an output token costs as outputs grow
python scripts/benchmark.py kinds --model small                     decoding with MHA, GQA, MQA, a window, side by side
python scripts/benchmark.py report ROWS --output docs/performance.md    the measured parts of a page, and a picture
"""

import argparse
import json
import logging
import math
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks import flags
from benchmarks.settings import data_settings, read_conf
from translator.cli.command import exit_status
from translator.cli.parser import OneLineParser
from translator.cli.streams import LineWriter
from translator.errors import UserError

if TYPE_CHECKING:
    from benchmarks.growth import GrowthJob

SCRIPT = "scripts/benchmark.py"
Rows = Iterator[dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments say -> exit status, as of `translate`."""
    return write_rows(SCRIPT, build_parser, arguments)


def write_rows(script: str, parser: Callable[[], argparse.ArgumentParser], arguments: Sequence[str] | None) -> int:
    """Print the rows that ``measure``, which the parser sets, yields, each with its command -> exit status."""
    logging.basicConfig(format="%(levelname)s: %(message)s", stream=sys.stderr)
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", script, *arguments])
    writer = LineWriter("-")

    def work() -> None:
        found = parser().parse_args(arguments)
        for row in found.measure(found):
            writer.write([json.dumps({**row, "command": command}, ensure_ascii=False)])

    return exit_status(Path(script).name, work, "interrupted; the rows written so far are whole")


def build_parser() -> argparse.ArgumentParser:
    """The flags; what to measure is a command of its own."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=Path(SCRIPT).name, description=__doc__, formatter_class=form, allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    for measure, add_flags, told in (
        (train, flags.add_train, "optimizer steps on real batches"),
        (decode, flags.add_decode, "a bundle on a file"),
        (attention, flags.add_attention, "kernels and rules over the length"),
        (growth, flags.add_growth, "the cost of an output token"),
        (kinds, flags.add_kinds, "kinds of attention, side by side"),
        (report, flags.add_report, "tables and a picture from rows"),
    ):
        command = commands.add_parser(measure.__name__, help=told, allow_abbrev=False)
        command.set_defaults(measure=measure)
        add_flags(command)
    return parser


def train(found: argparse.Namespace) -> Rows:
    """A row a model and precision; all on the same batches, written once to a file."""
    from benchmarks.isolation import isolated
    from benchmarks.real_batches import BatchJob, prepare_batches
    from benchmarks.training import TrainJob, train_row

    batch = read_conf("config")["batch"]
    tokens = found.batch_tokens or batch["max_tokens"]
    with TemporaryDirectory() as scratch:
        path = str(Path(scratch, "batches.pt"))
        data = data_settings(found.data, found.root, found.languages)
        real = BatchJob(path, data, found.checkpoint, found.vocab, tokens, found.steps, batch["max_length"])
        isolated(prepare_batches, real)
        for (name, sizes), precision in product(_models(found), found.precision):
            own = {"batches": path, "name": name, "model": sizes, "precision": precision}
            row = isolated(train_row, flags.job(TrainJob, found, **own))
            yield {**row, "data": " ".join(found.data), "batch_tokens": tokens}


def decode(found: argparse.Namespace) -> Rows:
    """A row a precision, beam, batch and cache."""
    from benchmarks.decoding import DecodeJob, decode_row
    from benchmarks.isolation import isolated
    from translator.data.lines import is_blank, read_text

    lines = tuple(line for line in read_text(found.input) if not is_blank(line))[: found.sentences]
    if not lines:
        raise UserError(f"{found.input} has no sentence to translate")
    caches = {"on": (True,), "off": (False,), "both": (True, False)}[found.cache]
    for precision, beam, batch, cache in product(found.precision, found.beam, found.batch, caches):
        own = {"lines": lines, "precision": precision, "beam": beam, "batch": batch, "cache": cache}
        yield {**isolated(decode_row, flags.job(DecodeJob, found, **own)), "input": found.input}


def attention(found: argparse.Namespace) -> Rows:
    """A row a length, kind, kernel and pass, and a row of exponents after each series of lengths."""
    from benchmarks.attention import AttentionJob, attention_rows
    from translator.device import choose_device, surroundings

    around = surroundings(choose_device(found.device, "float32", found.threads)[0])
    base = flags.job(AttentionJob, found, threads=around["threads"])
    for row in attention_rows(base, found.lengths, found.kinds, found.kernels):
        # JSON has no word for the exponent of a single length.
        numbers = {name: None if name.endswith("exponent") and math.isnan(n) else n for name, n in row.items()}
        yield {"kind": "attention", **around, "rounds": found.rounds, **numbers}


def growth(found: argparse.Namespace) -> Rows:
    """A row a length of each way to decode."""
    from benchmarks.growth import growth_rows, variants
    from benchmarks.isolation import isolated

    base = _random_model(found, sorted(set(found.lengths)), found.batch[0], found.beam[0])
    for job in variants(base, found.batch, found.beam, found.kv_heads):
        yield from isolated(growth_rows, job)


def kinds(found: argparse.Namespace) -> Rows:
    """A row a kind of attention, plain multi-head attention first."""
    from benchmarks.isolation import isolated
    from benchmarks.kinds import kinds, kinds_rows

    base = _random_model(found, [found.length], found.batch, found.beam)
    yield from isolated(kinds_rows, list(kinds(base, found.kv_heads, found.window)))


def report(found: argparse.Namespace) -> Rows:
    """Write the page and, where there are rows of growth, the picture; no rows of its own."""
    from benchmarks.page import page, read_rows
    from benchmarks.plots import draw_growth

    rows = [row for path in found.rows for row in read_rows(path)]
    output: Path = found.output
    pictures = {}
    if grown := [row for row in rows if row["kind"] == "growth"]:
        pictures["growth"] = f"{output.stem}-growth.png"
        draw_growth(grown, output.with_name(pictures["growth"]))
    try:
        before = output.read_text(encoding="utf-8") if output.exists() else "# Performance\n"
        output.write_text(page(before, rows, pictures), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from error
    return iter(())


def _random_model(found: argparse.Namespace, lengths: Sequence[int], batch: int, beam: int) -> "GrowthJob":
    """A model of the sizes asked for, weights random."""
    from benchmarks.growth import GrowthJob

    return flags.job(
        GrowthJob, found, name=found.model, model=read_conf(f"model/{found.model}"), lengths=tuple(lengths),
        vocab_size=found.vocab, batch=batch, beam=beam, kv_heads=None, window=None,
    )  # fmt: skip


def _models(found: argparse.Namespace) -> list[tuple[str, Mapping[str, Any]]]:
    """Names and sizes: a bundle's, or those asked for by name."""
    if found.checkpoint is None:
        return [(name, read_conf(f"model/{name}")) for name in found.model]
    from translator.bundle import read_config

    return [(Path(found.checkpoint).name, read_config(Path(found.checkpoint))["model"])]
