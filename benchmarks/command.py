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
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from translator.arguments import OneLineParser
from translator.errors import UserError
from translator.options import DEVICES, PRECISIONS, did_you_mean
from translator.status import exit_status
from translator.streams import LineWriter

PROGRAM = "benchmark.py"
CONF = Path(__file__).resolve().parent.parent / "conf"
MODELS = tuple(sorted(path.stem for path in (CONF / "model").glob("*.yaml")))
CORPORA = ("pocket", "multi30k")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script -> exit status, as of `translate`."""
    logging.basicConfig(format="%(levelname)s: %(message)s", stream=sys.stderr)
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", f"scripts/{PROGRAM}", *arguments])
    writer = LineWriter("-")

    def work() -> None:
        found = build_parser().parse_args(arguments)
        for row in found.measure(found):
            writer.write([json.dumps({**row, "command": command}, ensure_ascii=False)])

    return exit_status(PROGRAM, work, "interrupted; the rows written so far are whole")


def build_parser() -> argparse.ArgumentParser:
    """The flags; what to measure is a command of its own."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    _add_train(commands.add_parser("train", help="optimizer steps on real batches", allow_abbrev=False))
    _add_decode(commands.add_parser("decode", help="a bundle on a file", allow_abbrev=False))
    _add_attention(commands.add_parser("attention", help="kernels and rules over the length", allow_abbrev=False))
    _add_growth(commands.add_parser("growth", help="the cost of an output token", allow_abbrev=False))
    _add_kinds(commands.add_parser("kinds", help="kinds of attention, side by side", allow_abbrev=False))
    _add_report(commands.add_parser("report", help="tables and a picture from rows", allow_abbrev=False))
    return parser


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(measure=train)
    parser.add_argument(
        "--data", nargs="+", default=["pocket"], metavar="D", help="pocket, multi30k, or two parallel files, or a table"
    )
    parser.add_argument("--root", metavar="DIR", help="local files of multi30k")
    parser.add_argument("--languages", nargs=2, metavar="L", default=["en", "de"], help="source and target (en de)")
    parser.add_argument("--model", nargs="+", choices=MODELS, default=["tiny"], help="sizes from conf/model (tiny)")
    parser.add_argument("--checkpoint", metavar="DIR", help="sizes and vocabulary of this bundle in place of --model")
    parser.add_argument("--vocab", type=_count, default=8000, metavar="V", help="pieces learned from the data (8000)")
    parser.add_argument("--batch-tokens", type=_count, metavar="N", help="of a batch, padded (as conf/config.yaml has)")
    parser.add_argument("--steps", type=_count, default=30, metavar="N", help="updates a round (30)")
    precisions = ("auto", "32-true", "bf16-mixed")
    parser.add_argument("--precision", nargs="+", choices=precisions, default=["auto"], help="as in training (auto)")
    _add_running(parser)


def _add_decode(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(measure=decode)
    parser.add_argument("--checkpoint", required=True, metavar="DIR", help="the bundle, such as checkpoints/pocket")
    parser.add_argument("--input", required=True, metavar="F", help="sentences, plain or .gz; blank lines are skipped")
    parser.add_argument("--sentences", type=_count, metavar="N", help="the first N of them (all)")
    parser.add_argument("--beam", nargs="+", type=_count, default=[1, 5], metavar="N", help="1 is greedy (1 5)")
    parser.add_argument("--batch", nargs="+", type=_count, default=[1, 32, 64], metavar="N", help="(1 32 64) sentences")
    parser.add_argument("--cache", choices=("on", "off", "both"), default="both", help="keys and values kept (both)")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, default=["float32"], help="(float32)")
    _add_running(parser)


def _add_attention(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(measure=attention)
    parser.add_argument("--lengths", nargs="+", type=_count, default=[128, 256, 512, 1024, 2048], metavar="N")
    parser.add_argument("--kinds", nargs="+", default=["dense", "window", "strided", "topk"], metavar="K",
                        help="who sees whom (dense window strided topk)")  # fmt: skip
    parser.add_argument("--kernels", nargs="+", default=["fused", "explicit"], metavar="K", help="how it is computed")
    parser.add_argument("--window", type=_count, default=128, metavar="W", help="of the sliding window (128)")
    parser.add_argument("--stride", type=_count, default=64, metavar="N", help="of the strided pattern (64)")
    parser.add_argument("--top-k", type=_count, default=32, metavar="K", help="keys a query keeps (32)")
    parser.add_argument("--d-model", type=_count, default=256, metavar="D", help="(256)")
    parser.add_argument("--n-heads", type=_count, default=8, metavar="H", help="(8)")
    _add_running(parser, profile=False)


def _add_growth(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(measure=growth)
    parser.add_argument("--model", choices=MODELS, default="small", help="sizes from conf/model (small)")
    parser.add_argument("--vocab", type=_count, default=8000, metavar="V", help="pieces (8000)")
    parser.add_argument("--lengths", nargs="+", type=_count, default=[16, 32, 64, 128, 256], metavar="N",
                        help="output tokens at which to look (16 32 64 128 256)")  # fmt: skip
    parser.add_argument("--batch", nargs="+", type=_count, default=[8, 1, 32], metavar="N",
                        help="sentences at a time; all else is measured with the first (8 1 32)")  # fmt: skip
    parser.add_argument("--beam", nargs="+", type=_count, default=[1, 5], metavar="N", help="likewise (1 5)")
    parser.add_argument("--kv-heads", nargs="+", type=_count, default=[2, 1], metavar="N", help="besides all (2 1)")
    parser.add_argument("--source-length", type=_count, default=24, metavar="N", help="source tokens (24)")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="(float32)")
    _add_running(parser, profile=False)


def _add_kinds(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(measure=kinds)
    parser.add_argument("--model", choices=MODELS, default="small", help="sizes from conf/model (small)")
    parser.add_argument("--vocab", type=_count, default=8000, metavar="V", help="pieces (8000)")
    parser.add_argument("--length", type=_count, default=64, metavar="N", help="output tokens (64)")
    parser.add_argument("--batch", type=_count, default=64, metavar="N", help="sentences at a time (64)")
    parser.add_argument("--beam", type=_count, default=1, metavar="N", help="(1)")
    parser.add_argument("--kv-heads", nargs="+", type=_count, default=[2, 1], metavar="N", help="besides all (2 1)")
    parser.add_argument("--window", nargs="+", type=_count, default=[16], metavar="W", help="of self-attention (16)")
    parser.add_argument("--source-length", type=_count, default=24, metavar="N", help="source tokens (24)")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="(float32)")
    _add_running(parser, profile=False)


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(measure=report)
    parser.add_argument("rows", nargs="+", type=Path, metavar="ROWS", help="files of rows as the other commands write")
    parser.add_argument("--output", type=Path, required=True, metavar="F", help="the page; its prose stays")


def _add_running(parser: argparse.ArgumentParser, *, profile: bool = True) -> None:
    parser.add_argument("--rounds", type=_count, default=3, metavar="N", help="repetitions, of which the median (3)")
    parser.add_argument("--threads", type=_count, metavar="N", help="CPU threads (as many as there are cores)")
    if profile:
        parser.add_argument("--profile", action="store_true", help="also tell on stderr which operations take the time")
    parser.add_argument("--device", choices=DEVICES, default="auto", help="(auto: a GPU where there is one)")


def train(found: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row a model and precision; all on the same batches, written once to a file."""
    from benchmarks.isolation import isolated
    from benchmarks.real_batches import BatchJob, prepare_batches
    from benchmarks.training import TrainJob, train_row

    running = {"device": found.device, "threads": found.threads, "rounds": found.rounds, "profile": found.profile}
    batch = read_conf("config")["batch"]
    tokens = found.batch_tokens or batch["max_tokens"]
    with TemporaryDirectory() as scratch:
        path = str(Path(scratch, "batches.pt"))
        data = data_settings(found.data, found.root, found.languages)
        real = BatchJob(path, data, found.checkpoint, found.vocab, tokens, found.steps, batch["max_length"])
        isolated(prepare_batches, real)
        for (name, sizes), precision in product(_models(found), found.precision):
            row = isolated(train_row, TrainJob(path, name, sizes, precision, **running))
            yield {**row, "data": " ".join(found.data), "batch_tokens": tokens}


def decode(found: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row a precision, beam, batch and cache."""
    from benchmarks.decoding import DecodeJob, decode_row
    from benchmarks.isolation import isolated
    from translator.data.lines import is_blank, read_text

    lines = tuple(line for line in read_text(found.input) if not is_blank(line))[: found.sentences]
    if not lines:
        raise UserError(f"{found.input} has no sentence to translate")
    running = {"device": found.device, "threads": found.threads, "rounds": found.rounds, "profile": found.profile}
    caches = {"on": (True,), "off": (False,), "both": (True, False)}[found.cache]
    for precision, beam, batch, cache in product(found.precision, found.beam, found.batch, caches):
        job = DecodeJob(found.checkpoint, lines, beam, batch, cache, precision, **running)
        yield {**isolated(decode_row, job), "input": found.input}


def attention(found: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row a length, kind, kernel and pass, and a row of exponents after each series of lengths."""
    from benchmarks.attention import attention_rows

    around = _surroundings(found)
    rows = attention_rows(
        found.lengths, found.kinds, found.kernels, window=found.window, stride=found.stride, top_k=found.top_k,
        d_model=found.d_model, n_heads=found.n_heads, rounds=found.rounds,
    )  # fmt: skip
    for row in rows:
        # Of every row "kind" says which command it is of; what this one calls so is who sees whom.
        # JSON has no word for the exponent of a single length.
        numbers = {name: None if name.endswith("exponent") and math.isnan(n) else n for name, n in row.items()}
        yield {**around, "rounds": found.rounds, **numbers, "kind": "attention", "rule": row["kind"]}


def growth(found: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row a length of each way to decode."""
    from benchmarks.growth import GrowthJob, growth_rows, variants
    from benchmarks.isolation import isolated

    base = GrowthJob(
        found.model, read_conf(f"model/{found.model}"), tuple(sorted(set(found.lengths))), found.vocab,
        batch=found.batch[0], beam=found.beam[0], source_length=found.source_length, precision=found.precision,
        device=found.device, threads=found.threads, rounds=found.rounds,
    )  # fmt: skip
    for job in variants(base, found.batch, found.beam, found.kv_heads):
        yield from isolated(growth_rows, job)


def kinds(found: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row a kind of attention, plain multi-head attention first."""
    from benchmarks.growth import GrowthJob
    from benchmarks.isolation import isolated
    from benchmarks.kinds import kinds, kinds_rows

    base = GrowthJob(
        found.model, read_conf(f"model/{found.model}"), (found.length,), found.vocab, batch=found.batch,
        beam=found.beam, source_length=found.source_length, precision=found.precision, device=found.device,
        threads=found.threads, rounds=found.rounds,
    )  # fmt: skip
    yield from isolated(kinds_rows, list(kinds(base, found.kv_heads, found.window)))


def report(found: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Write the page and, where there are rows of growth, the picture; no rows of its own."""
    from benchmarks.plots import draw_growth
    from benchmarks.report import page, read_rows

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


def data_settings(names: Sequence[str], root: str | None, languages: Sequence[str]) -> dict[str, Any]:
    """What --data stands for, as the settings in conf/data: a corpus by name, or files to train on."""
    source, target = languages
    if len(names) == 1 and names[0] in CORPORA:
        return {**read_conf(f"data/{names[0]}"), "root": root, "source": source, "target": target}
    if len(names) == 1 and not Path(names[0]).exists():
        raise UserError(f"--data {names[0]}: no such corpus or file{did_you_mean(names[0], CORPORA)}")
    train: Any = names[0] if len(names) == 1 else list(names)
    return {**read_conf("data/files"), "train": train, "source": source, "target": target}


def read_conf(name: str) -> dict[str, Any]:
    """A file of conf/ as plain values."""
    import yaml

    values: dict[str, Any] = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    return values


def _surroundings(found: argparse.Namespace) -> dict[str, Any]:
    """Set the number of threads -> what the figures of this process depend on."""
    from translator.device import place, surroundings

    return surroundings(place(found.device, "float32", found.threads)[0])


def _models(found: argparse.Namespace) -> list[tuple[str, Mapping[str, Any]]]:
    """Names and sizes: a bundle's, or those asked for by name."""
    if found.checkpoint is None:
        return [(name, read_conf(f"model/{name}")) for name in found.model]
    from translator.checkpoint import read_config

    return [(Path(found.checkpoint).name, read_config(Path(found.checkpoint))["model"])]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
