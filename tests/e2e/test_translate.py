"""The command as a process: what a shell, a pipe and an impatient user see."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import toy
from translator.inference.translator import Translator

ROOT = Path(__file__).resolve().parents[2]
TRAINING_ONLY = ("lightning", "hydra", "omegaconf", "datasets", "sacrebleu", "matplotlib", "rich", "tensorboard")
#: The command where only what translating needs can be imported.
COMMAND = (
    f"import sys; sys.modules.update(dict.fromkeys({TRAINING_ONLY!r})); "
    "from translator.cli.translate import main; sys.exit(main())"
)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[object]:
    """Starts the command in an empty folder, in the plainest locale, with pipes all around."""
    running: list[subprocess.Popen[bytes]] = []
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "OMP_NUM_THREADS": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def start(*flags: str, stdin: object = subprocess.PIPE) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *flags],
            stdin=stdin,  # type: ignore[call-overload]
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=kept | plain | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def test_each_line_is_answered_before_the_next_is_written(
    start: object, toy_bundle: Path, toy_translator: Translator, tmp_path: Path
) -> None:
    process = start("-m", os.path.relpath(toy_bundle, tmp_path))  # type: ignore[operator]
    lines = ["zono waba", "", "Straße café 你好 koko", "rame, no"]
    expected = [t.text for t in toy_translator.translate(lines)]

    for line, wanted in zip(lines, expected, strict=True):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline() == f"{wanted}\n".encode()
    process.stdin.write(b"su\n\xff")
    process.stdin.close()
    rest, said = process.stdout.read(), process.stderr.read()

    assert process.wait(timeout=120) == 0
    assert rest.count(b"\n") == 2
    assert b"line 6: not valid UTF-8" in said
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_ends_the_command_quietly(
    start: object, toy_bundle: Path, toy_translator: Translator, tmp_path: Path
) -> None:
    text = tmp_path / "text"
    text.write_text("zono waba\n" * 2000)
    with text.open("rb") as source:
        process = start("-m", str(toy_bundle), "-b", "1", "-q", stdin=source)  # type: ignore[operator]
    first = process.stdout.readline()
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait(timeout=120) == 141
    assert first.decode().strip() == toy_translator.translate(["zono waba"], beam_size=1)[0].text


def test_an_interrupt_leaves_whole_lines(
    start: object, toy_bundle: Path, toy_translator: Translator, tmp_path: Path
) -> None:
    """Standard input stays open, so that the command is also waiting for more when it is told to end."""
    lines = toy.sentences(64, seed=51)
    text = ("\n".join(lines * 25) + "\n").encode()
    process = start("-m", str(toy_bundle), "-b", "1")  # type: ignore[operator]
    process.stdin.write(text)
    process.stdin.flush()
    first = process.stdout.readline()

    process.send_signal(signal.SIGINT)
    rest, said = process.stdout.read(), process.stderr.read()

    assert process.wait(timeout=120) == 130
    assert said.decode() == "translate: interrupted; the lines written so far are whole\n"
    found = (first + rest).decode().split("\n")
    assert found.pop() == ""
    assert 64 <= len(found) < 1600
    assert found[:64] == [t.text for t in toy_translator.translate(lines, beam_size=1)]


def test_help_and_complaints_need_no_heavy_library() -> None:
    code = (
        "import sys; from translator.cli.translate import main\n"
        "assert main(['--n-best', '9']) == 2\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch', 'sentencepiece', 'safetensors', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    for flag in ("--beam-size", "--on-long", "--alignments", "--batch-tokens", "length^A", "json"):
        assert flag in done.stdout


def test_workers_keep_the_order_and_change_no_line(
    start: object, flat_bundle: Path, flat_translator: Translator, tmp_path: Path
) -> None:
    lines = [*toy.sentences(611, seed=3), "", *toy.sentences(5, seed=4)]  # three chunks, the last a short one
    text = tmp_path / "text"
    text.write_text("".join(f"{line}\n" for line in lines))
    flags = ("-m", str(flat_bundle), "-b", "1", "--max-length", "5", "--format", "tsv", "--sample", "--seed", "3")

    written = []
    for count in ("1", "2"):
        process = start(*flags, "-i", str(text), "--workers", count)  # type: ignore[operator]
        written.append(process.communicate(timeout=120)[0].decode().split("\n"))
        assert process.returncode == 0

    assert [line.split("\t")[:3] for line in written[0][:-1]] == [line.split("\t")[:3] for line in written[1][:-1]]
    assert [line.split("\t")[1] for line in written[1][:-1]] == lines


def test_workers_answer_each_line_and_name_its_number(start: object, toy_bundle: Path) -> None:
    process = start("-m", str(toy_bundle), "--workers", "2", "--on-long", "error", "--max-input-length", "3")  # type: ignore[operator]

    process.stdin.write(b"su\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    _, said = process.communicate(b"su\n" + b"zono " * 9 + b"\n", timeout=120)

    assert answer.strip()
    assert process.returncode == 2
    assert b"line 3" in said


def test_a_worker_that_is_killed_ends_the_command_with_one_line(start: object, toy_bundle: Path) -> None:
    process = start("-m", str(toy_bundle), "--workers", "2", "-q")  # type: ignore[operator]
    process.stdin.write(b"su\n")
    process.stdin.flush()
    process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        pytest.skip("the system does not tell the children of a process")

    for child in children.read_text().split():
        os.kill(int(child), signal.SIGKILL)
    _, said = process.communicate(b"su\n", timeout=120)

    assert process.returncode == 2
    assert said.count(b"\n") == 1
    assert b"a worker process died" in said
