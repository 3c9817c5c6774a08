"""Run this project and others on the same work, in turn, and say who did how much a second.

python benchmarks/peers/compare.py setup                                        the peers' environment
python benchmarks/peers/compare.py train --data multi30k --root DIR             the same batches
python benchmarks/peers/compare.py decode --checkpoint DIR --input FILE         the same weights and sentences
Rows go to stdout as JSON lines, a table to stderr. See README.md beside this file.
"""

import argparse
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # where `benchmarks` lies, which is not installed

from benchmarks.command import Rows, write_rows
from benchmarks.flags import add_corpus, add_count, add_text
from benchmarks.peers.turns import HERE, ROOT, Program, rows_of, run, take_turns
from benchmarks.settings import data_settings, read_conf
from benchmarks.tables import markdown
from translator.cli.parser import OneLineParser
from translator.errors import UserError

SCRIPT = "benchmarks/peers/compare.py"
PEERS = HERE / ".venv"
#: How exactly ours translates; what others write is compared with the first.
OURS = ("float32", "bf16", "int8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison -> exit status, as of `translate`."""
    return write_rows(SCRIPT, build_parser, arguments)


def build_parser() -> argparse.ArgumentParser:
    """The flags of each command."""
    form = argparse.RawDescriptionHelpFormatter
    parser = OneLineParser(prog=Path(SCRIPT).name, description=__doc__, formatter_class=form, allow_abbrev=False)
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    setup = commands.add_parser("setup", help="make the peers' environment", allow_abbrev=False)
    setup.set_defaults(measure=set_up)
    train = commands.add_parser("train", help="the same batches", allow_abbrev=False)
    train.set_defaults(measure=compare_training)
    add_corpus(train, "multi30k", ["tiny", "small"])
    add_count(train, "--batch-tokens", 4096, "of a batch, padded")
    train.add_argument("--programs", nargs="+", metavar="P", help="only these beside ours (all)")
    add_count(train, "--steps", 10, "updates a round")
    decode = commands.add_parser("decode", help="the same weights and sentences", allow_abbrev=False)
    decode.set_defaults(measure=compare_decoding)
    add_text(decode, [1, 64])
    decode.add_argument("--reference", metavar="F", help="translations of the sentences: adds the BLEU of each program")
    decode.add_argument("--precisions", nargs="+", choices=OURS, metavar="P", default=list(OURS),
                        help=f"of ours ({' '.join(OURS)})")  # fmt: skip
    decode.add_argument("--types", nargs="*", default=["float32", "int8", "bfloat16"], metavar="T",
                        help="number formats of CTranslate2 (float32 int8 bfloat16)")  # fmt: skip
    decode.add_argument("--patience", nargs="*", type=float, default=[2.0, 3.0], metavar="P",
                        help="of CTranslate2's longer searches: P times the beam has to be finished (2 3)")  # fmt: skip
    for command in (train, decode):
        add_count(command, "--turns", 3, "each program in turn, N times")
        add_count(command, "--rounds", 1, "passes a turn, of which the median")
        add_count(command, "--threads", 1, "CPU threads")
        command.add_argument("--python", default=str(PEERS / "bin/python"), metavar="P", help="the peers' interpreter")
    return parser


def set_up(_: argparse.Namespace) -> Rows:
    """Make the environment; no rows."""
    if not (PEERS / "bin/python").exists():
        venv.create(PEERS, with_pip=True)
    install = [str(PEERS / "bin/python"), "-m", "pip", "install", "-r", str(HERE / "requirements.txt")]
    if subprocess.run(install, stdout=sys.stderr, check=False).returncode:
        raise UserError(f"the peers could not be installed into {PEERS}: see above")
    return iter(())


def compare_training(found: argparse.Namespace) -> Rows:
    """A row a model size and program; a rate is of real tokens of both sides."""
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
            yield from shown("peers-train", rows_of(answers, amount, "tokens", setting, found))


def compare_decoding(found: argparse.Namespace) -> Rows:
    """A row a beam, batch size and program; a rate is of sentences."""
    from benchmarks.batch_file import IDS
    from translator.bundle import load_bundle

    tokenizer = load_bundle(found.checkpoint).tokenizer
    pairs = sorted(
        ((tokenizer.encode(line), reference) for line, reference in read_pairs(found)), key=lambda pair: -len(pair[0])
    )
    sources, references = [source for source, _ in pairs], [reference for _, reference in pairs]
    names = tokenizer.pieces(range(tokenizer.vocab_size))
    common = {"ids": {name: getattr(tokenizer, name) for name in IDS}, "pieces": names,
              "threads": found.threads, "rounds": found.rounds}  # fmt: skip
    with TemporaryDirectory() as scratch:
        programs = decoders(found, Path(scratch))
        for beam, batch in product(found.beam, found.batch):
            groups = [sources[start : start + batch] for start in range(0, len(sources), batch)]
            limits = [[limit(group[0])] * len(group) for group in groups]  # others have one limit a batch
            job = {**common, "groups": groups, "limits": limits, "beam": beam}
            asked = [p for p in programs if beam > 1 or not p.of_beams]
            answers = take_turns(asked, job, found.turns, Path(scratch))
            rows = rows_of(answers, len(sources), "sentences", f"beam {beam}, batch {batch}", found)
            if found.reference is not None:
                for row, given in zip(rows, filter(None, answers.values()), strict=True):
                    row.update(bleu([tokenizer.decode(ids) for ids in given[0]["outputs"]], references))
            yield from shown("peers-decode", rows)


def shown(kind: str, rows: list[dict[str, Any]]) -> Rows:
    """The rows, each with its kind, and once they are taken a table of them on stderr."""
    yield from ({"kind": kind, **row} for row in rows)
    print("\n".join(markdown(kind, rows)), file=sys.stderr)


def read_pairs(found: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The sentences to translate, each with its reference (itself, where there is none)."""
    from translator.data.lines import is_blank, read_text

    lines = read_text(found.input)
    references = lines if found.reference is None else read_text(found.reference)
    if len(references) != len(lines):
        raise UserError(f"{found.input} has {len(lines)} lines, {found.reference} {len(references)}: not one for one")
    return islice((pair for pair in zip(lines, references, strict=True) if not is_blank(pair[0])), found.sentences)


def bleu(hypotheses: list[str], references: list[str]) -> dict[str, Any]:
    """The score of one program's translations, and how it was computed."""
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    return {"bleu": metric.corpus_score(hypotheses, [references]).score, "signature": str(metric.get_signature())}


def decoders(found: argparse.Namespace, scratch: Path) -> list[Program]:
    """Ours, and the others over what the bundle exports to."""
    kinds = ("huggingface", "ctranslate2")
    exported = {kind: str(export(found.python, found.checkpoint, kind, scratch / kind)) for kind in kinds}

    def hugging(name: str, early_stopping: Any, *, of_beams: bool) -> Program:
        own = {"model": exported["huggingface"], "early_stopping": early_stopping}
        return Program(name, "huggingface_decode.py", found.python, own, of_beams)

    def ctranslate2(kind: str, patience: float | None = None) -> Program:
        own = {"model": exported["ctranslate2"], "compute_type": kind, "patience": patience or 1.0}
        name = f"CTranslate2 {kind}" if patience is None else f"CTranslate2 {kind}, patience {patience:g}"
        return Program(name, "ctranslate2_decode.py", found.python, own, of_beams=patience is not None)

    return [
        *(
            Program(f"ours {kind}", "ours_decode.py", sys.executable, {"model": found.checkpoint, "precision": kind})
            for kind in OURS
            if kind in found.precisions
        ),
        hugging("Hugging Face", False, of_beams=False),
        hugging("Hugging Face, to the end", "never", of_beams=True),
        *map(ctranslate2, found.types),
        *(ctranslate2("float32", patience) for patience in (found.patience if "float32" in found.types else [])),
    ]


def export(python: str, checkpoint: str, kind: str, output: Path) -> Path:
    """The bundle in another program's form, by an interpreter that has that program's library."""
    script = str(ROOT / "scripts/export.py")
    if run([python, script, checkpoint, "--to", kind, "--output", str(output)]).returncode:
        raise UserError(f"{checkpoint} could not be exported to {kind}: see above")
    return output


def limit(source: Sequence[int]) -> int:
    """The longest output for a source, as translating limits it."""
    from translator.inference.options import EXTRA_PIECES, TranslateOptions

    return int(TranslateOptions.max_length_ratio * len(source)) + EXTRA_PIECES


if __name__ == "__main__":
    sys.exit(main())
