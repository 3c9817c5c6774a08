"""Run this project and others on the same work, in turn, and say who did how much a second.

python benchmarks/peers/compare.py setup                                        the peers' environment
python benchmarks/peers/compare.py train --data multi30k --root DIR             the same batches
python benchmarks/peers/compare.py decode --checkpoint DIR --input FILE         the same weights and sentences
Rows go to stdout as JSON lines, a table to stderr. See README.md beside this file.
"""

import argparse
import json
import shlex
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]

from turns import Program, rows_of, run, take_turns  # noqa: E402

from benchmarks.command import MODELS, data_settings, read_conf  # noqa: E402
from benchmarks.report import markdown, peers_table  # noqa: E402
from translator.arguments import OneLineParser  # noqa: E402
from translator.errors import UserError  # noqa: E402
from translator.streams import LineWriter, say  # noqa: E402

PROGRAM = "compare.py"
PEERS = HERE / ".venv"
#: How exactly ours translates; what others write is compared with the first.
OURS = ("float32", "bf16", "int8")
#: Of source pieces, as translating limits its outputs.
LENGTH_RATIO = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison -> exit status, as of `translate`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", f"benchmarks/peers/{PROGRAM}", *arguments])
    writer = LineWriter("-")
    try:
        found = build_parser().parse_args(arguments)
        for measured in found.run(found):
            rows = [{**row, "command": command} for row in measured]
            writer.write([json.dumps(row, ensure_ascii=False) for row in rows])
            print("\n".join(markdown(peers_table(rows))), file=sys.stderr)
    except UserError as error:
        say(f"error: {error}", PROGRAM)
        return 2
    except KeyboardInterrupt:
        say("interrupted", PROGRAM)
        return 130
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The flags of each command."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=PROGRAM, description=__doc__, formatter_class=form, allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    setup = commands.add_parser("setup", help="make the peers' environment", allow_abbrev=False)
    setup.set_defaults(run=set_up)
    train = commands.add_parser("train", help="the same batches", allow_abbrev=False)
    train.set_defaults(run=compare_training)
    train.add_argument("--data", nargs="+", default=["multi30k"], metavar="D", help="as of scripts/benchmark.py train")
    train.add_argument("--root", metavar="DIR", help="local files of multi30k")
    train.add_argument("--languages", nargs=2, metavar="L", default=["en", "de"], help="source and target (en de)")
    train.add_argument("--model", nargs="+", choices=MODELS, default=["tiny", "small"], help="(tiny small)")
    train.add_argument("--vocab", type=int, default=8000, metavar="V", help="pieces learned from the data (8000)")
    train.add_argument("--batch-tokens", type=int, default=4096, metavar="N", help="of a batch, padded (4096)")
    train.add_argument("--programs", nargs="+", metavar="P", help="only these beside ours (all)")
    train.add_argument("--steps", type=int, default=10, metavar="N", help="updates a round (10)")
    decode = commands.add_parser("decode", help="the same weights and sentences", allow_abbrev=False)
    decode.set_defaults(run=compare_decoding)
    decode.add_argument("--checkpoint", type=Path, required=True, metavar="DIR", help="our bundle")
    decode.add_argument("--input", required=True, metavar="F", help="sentences, plain or .gz")
    decode.add_argument("--sentences", type=int, metavar="N", help="the first N of them (all)")
    decode.add_argument("--beam", nargs="+", type=int, default=[1, 5], metavar="N", help="(1 5)")
    decode.add_argument("--batch", nargs="+", type=int, default=[1, 64], metavar="N", help="sentences at a time (1 64)")
    decode.add_argument("--reference", metavar="F", help="translations of the sentences: adds the BLEU of each program")
    decode.add_argument("--precisions", nargs="+", choices=OURS, metavar="P", default=list(OURS),
                        help=f"of ours ({' '.join(OURS)})")  # fmt: skip
    decode.add_argument("--types", nargs="*", default=["float32", "int8", "bfloat16"], metavar="T",
                        help="number formats of CTranslate2 (float32 int8 bfloat16)")  # fmt: skip
    decode.add_argument("--patience", nargs="*", type=float, default=[2.0, 3.0], metavar="P",
                        help="of CTranslate2's longer searches: P times the beam has to be finished (2 3)")  # fmt: skip
    for command in (train, decode):
        command.add_argument("--turns", type=int, default=3, metavar="N", help="each program in turn, N times (3)")
        command.add_argument(
            "--rounds", type=int, default=1, metavar="N", help="passes a turn, of which the median (1)"
        )
        command.add_argument("--threads", type=int, default=1, metavar="N", help="CPU threads (1)")
        command.add_argument("--python", default=str(PEERS / "bin/python"), metavar="P", help="the peers' interpreter")
    return parser


def set_up(_: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    """Make the environment; no rows."""
    if not (PEERS / "bin/python").exists():
        venv.create(PEERS, with_pip=True)
    install = [str(PEERS / "bin/python"), "-m", "pip", "install", "-r", str(HERE / "requirements.txt")]
    if subprocess.run(install, stdout=sys.stderr, check=False).returncode:
        raise UserError(f"the peers could not be installed into {PEERS}: see above")
    return iter(())


def compare_training(found: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    """Rows of one model size at a time; a rate is of real tokens of both sides."""
    from benchmarks.batch_file import read_batches, workload
    from benchmarks.real_batches import BatchJob, prepare_batches

    programs = [
        Program("ours", "ours_train.py", sys.executable, {"precision": "auto"}),
        Program("ours, float32", "ours_train.py", sys.executable, {"precision": "32-true"}),
        *(
            Program(f"{name}{suffix}", script, found.python, {"precision": precision})
            for name, script in (("nn.Transformer", "torch_train.py"), ("MarianMTModel", "marian_train.py"))
            for suffix, precision in (("", "32-true"), (", bf16 autocast", "bf16-mixed"))
        ),
    ]
    if found.programs is not None:
        programs = [p for p in programs if p.name.startswith("ours") or p.name in found.programs]
    with TemporaryDirectory() as scratch:
        path = str(Path(scratch, "batches.pt"))
        data = data_settings(found.data, found.root, found.languages)
        prepare_batches(BatchJob(path, data, None, found.vocab, found.batch_tokens, found.steps))
        work = workload(read_batches(path)[0])
        job = {"batches": path, "threads": found.threads, "rounds": found.rounds, "warmup": 2}
        for name in found.model:
            answers = take_turns(programs, {**job, "model": read_conf(f"model/{name}")}, found.turns, Path(scratch))
            amount = work["source_tokens"] + work["target_tokens"]
            setting = f"{name}, {found.batch_tokens} tokens a batch, {work['padding']:.1%} padding"
            yield [{"kind": "peers-train", **row} for row in rows_of(answers, amount, "tokens", setting, found)]


def compare_decoding(found: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    """Rows of one beam and batch size at a time; a rate is of sentences."""
    from translator.checkpoint import load_bundle
    from translator.data.lines import is_blank, read_text

    bundle = load_bundle(found.checkpoint)
    lines = list(read_text(found.input))
    references = lines if found.reference is None else list(read_text(found.reference))
    if len(references) != len(lines):
        raise UserError(f"{found.input} has {len(lines)} lines, {found.reference} {len(references)}: not one for one")
    pairs = [
        (bundle.tokenizer.encode(line), reference)
        for line, reference in zip(lines, references, strict=True)
        if not is_blank(line)
    ][: found.sentences]
    pairs.sort(key=lambda pair: -len(pair[0]))
    sources = [source for source, _ in pairs]
    ids = {name: getattr(bundle.tokenizer, name) for name in ("pad_id", "unk_id", "bos_id", "eos_id")}
    with TemporaryDirectory() as scratch:
        programs = decoders(found, Path(scratch))
        pieces = bundle.tokenizer.pieces(range(bundle.tokenizer.vocab_size))
        job = {"ids": ids, "pieces": pieces, "threads": found.threads, "rounds": found.rounds}
        for beam in found.beam:
            for batch in found.batch:
                groups = [sources[start : start + batch] for start in range(0, len(sources), batch)]
                limits = [[limit(group[0])] * len(group) for group in groups]  # others have one limit a batch
                of_groups = {"groups": groups, "limits": limits}
                asked = [p for p in programs if beam > 1 or not p.of_beams]
                answers = take_turns(asked, {**job, **of_groups, "beam": beam}, found.turns, Path(scratch))
                rows = rows_of(answers, len(sources), "sentences", f"beam {beam}, batch {batch}", found)
                if found.reference is not None:
                    for row, given in zip(rows, filter(None, answers.values()), strict=True):
                        texts = [bundle.tokenizer.decode(ids) for ids in given[0]["outputs"]]
                        row.update(bleu(texts, [reference for _, reference in pairs]))
                yield [{"kind": "peers-decode", **row} for row in rows]


def bleu(hypotheses: list[str], references: list[str]) -> dict[str, Any]:
    """The score of one program's translations, and how it was computed."""
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    return {"bleu": metric.corpus_score(hypotheses, [references]).score, "signature": str(metric.get_signature())}


def decoders(found: argparse.Namespace, scratch: Path) -> list[Program]:
    """Ours, and the others over what the bundle exports to."""
    kinds = ("huggingface", "ctranslate2")
    exported = {kind: str(export(found.python, found.checkpoint, kind, scratch / kind)) for kind in kinds}
    hugging = {"model": exported["huggingface"], "early_stopping": False}
    to_the_end = {**hugging, "early_stopping": "never"}
    other = {"model": exported["ctranslate2"], "patience": 1.0}
    return [
        *(
            Program(
                f"ours {kind}", "ours_decode.py", sys.executable, {"model": str(found.checkpoint), "precision": kind}
            )
            for kind in sorted(found.precisions, key=OURS.index)
        ),
        Program("Hugging Face", "huggingface_decode.py", found.python, hugging),
        Program("Hugging Face, to the end", "huggingface_decode.py", found.python, to_the_end, of_beams=True),
        *(
            Program(f"CTranslate2 {kind}", "ctranslate2_decode.py", found.python, {**other, "compute_type": kind})
            for kind in found.types
        ),
        *(
            Program(
                f"CTranslate2 float32, patience {patience:g}",
                "ctranslate2_decode.py",
                found.python,
                {**other, "compute_type": "float32", "patience": patience},
                of_beams=True,
            )
            for patience in (found.patience if "float32" in found.types else [])
        ),
    ]


def export(python: str, checkpoint: Path, kind: str, output: Path) -> Path:
    """The bundle in another program's form, by an interpreter that has that program's library."""
    script = str(ROOT / "scripts/export.py")
    if run([python, script, str(checkpoint), "--to", kind, "--output", str(output)]).returncode:
        raise UserError(f"{checkpoint} could not be exported to {kind}: see above")
    return output


def limit(source: Sequence[int]) -> int:
    """The longest output for a source, as translating limits it."""
    from translator.options import EXTRA_PIECES

    return int(LENGTH_RATIO * len(source)) + EXTRA_PIECES


if __name__ == "__main__":
    sys.exit(main())
