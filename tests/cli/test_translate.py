"""The command, called in this process."""

import argparse
import gzip
import json
import logging
import os
import time
from pathlib import Path

import pytest

from tests import toy
from translator.cli.translate import _loader, main
from translator.inference.translator import Translator

PROBE = toy.sentences(23, seed=41)


class Command:
    """Runs the command on a text and gives its status, its lines and what it said."""

    def __init__(self, model: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.model, self.folder, self.capfd = model, folder, capfd

    def __call__(self, data: str | bytes, *flags: str, lot: int = 2048) -> tuple[int, list[str], str]:
        source, target = self.folder / "source.txt", self.folder / "target.txt"
        source.write_bytes(data.encode() if isinstance(data, str) else data)
        target.unlink(missing_ok=True)
        status = main(["-m", str(self.model), "-i", str(source), "-o", str(target), *flags], lot=lot)
        lines = target.read_bytes().decode().split("\n") if target.exists() else [""]
        assert lines.pop() == ""  # whatever was written ends in LF
        captured = self.capfd.readouterr()
        assert captured.out == ""
        return status, lines, captured.err


@pytest.fixture
def command(toy_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(toy_bundle, tmp_path, capfd)


@pytest.fixture
def flat_command(flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(flat_bundle, tmp_path, capfd)


def test_a_file_gives_what_python_gives(command: Command, toy_translator: Translator) -> None:
    lines = [*PROBE, "", PROBE[2]]

    status, found, said = command("\n".join(lines) + "\n")

    assert status == 0
    assert found == [t.text for t in toy_translator.translate(lines)]
    assert "25 lines in" in said


def test_the_size_of_lots_changes_nothing(flat_command: Command) -> None:
    lines = [*PROBE[:9], "", *PROBE[3:7]]
    flags = ("-b", "2", "--max-length", "7", "-q")
    whole = flat_command("\n".join(lines), *flags)[1]

    for lot in (1, 5, 13, 14, 15):
        assert flat_command("\n".join(lines), *flags, lot=lot)[1] == whole
    for count in (4, 5, 6, 11):
        assert flat_command("\n".join(lines[:count]), *flags, lot=5)[1] == whole[:count]


def test_every_record_gives_one_line(command: Command) -> None:
    cases = {
        "a small dog\n\nsu\n\n\n": [False, True, False, True, True],
        " \n\t\n\u00a0\n\u3000\nsu\n": [True, True, True, True, False],
        "": [],
        "\n\n": [True, True],
        "su\nlu": [False, False],
        "su lu\u2028ve\nkoko\u2029no\nrame\u0085rako\x0csu\n": [False] * 3,
        "su lu\rve\nkoko no\n": [False] * 2,
        "su\0lu\nlu\n": [False] * 2,
    }
    for text, blanks in cases.items():
        status, lines, _ = command(text)
        assert (status, [not line for line in lines]) == (0, blanks)
        assert not any("\0" in line or "\r" in line for line in lines)


def test_windows_line_ends_and_byte_order_marks_change_nothing(command: Command) -> None:
    text = "\n".join([*PROBE[:5], "", ""])
    plain = command(text)[1]

    assert command(text.replace("\n", "\r\n"))[1] == plain
    assert command("\ufeff" + text)[1] == plain


def test_malformed_bytes_are_replaced_with_a_warning(command: Command) -> None:
    status, lines, said = command(b"su\ncaf\xe9 noir\n\xff\xfe\nlu\n")

    assert (status, len(lines)) == (0, 4)
    assert [lines[0], lines[3]] == command("su\nlu\n")[1]
    assert "line 2: not valid UTF-8" in said
    assert "line 3: not valid UTF-8" in said


def test_long_lines_are_named_by_their_number_in_the_stream(command: Command) -> None:
    text = "\n".join([*PROBE[:5], " ".join(PROBE[:5]), PROBE[5]])
    alone = command("\n".join(PROBE[:6]))[1]

    for on_long in ("split", "crop"):
        status, lines, said = command(text, "--max-input-length", "20", "--on-long", on_long, lot=2)
        assert status == 0
        assert lines[:5] + lines[6:] == alone
        assert said.count("warning: line 6: ") == 1
    status, lines, said = command(text, "--max-input-length", "20", "--on-long", "error", lot=2)
    assert (status, lines) == (2, alone[:4])
    assert "translate: error: line 6: " in said


def test_scores_and_candidates(flat_command: Command, flat_translator: Translator) -> None:
    options = {"beam_size": 4, "n_best": 3, "max_length": 5, "length_penalty": 0.6}
    flags = ("-b", "4", "--max-length", "5", "--length-penalty", "0.6", "-q")
    text = f"{PROBE[0]}\n\n{PROBE[1]}\n"
    expected = flat_translator.translate(text.split("\n")[:3], **options)

    scored = [line.split("\t") for line in flat_command(text, *flags, "--scores")[1]]
    assert [text for _, text in scored] == [t.text for t in expected]
    assert [float(score) for score, _ in scored] == pytest.approx([t.score for t in expected], abs=1e-5)
    listed = [line.split(" ||| ") for line in flat_command(text, *flags, "--n-best", "3")[1]]
    assert [number for number, _, _ in listed] == ["0"] * 3 + ["1"] + ["2"] * 3
    assert [entry for _, entry, _ in listed] == [e.text for t in expected for e in t.n_best]
    records = [json.loads(line) for line in flat_command(text, *flags, "--n-best", "3", "--format", "json")[1]]
    assert [len(record["n_best"]) for record in records] == [3, 1, 3]
    assert [record["source"] for record in records] == [PROBE[0], "", PROBE[1]]
    assert [record["finished"] for record in records] == [t.finished for t in expected]


def test_links_in_the_line_or_in_a_file_of_their_own(command: Command, tmp_path: Path) -> None:
    text = "\n".join([*PROBE[:7], "", PROBE[7]])
    plain = command(text)[1]
    links = tmp_path / "links.txt"

    both = [line.split(" ||| ") for line in command(text, "--alignments", lot=3)[1]]
    assert [line for line, _ in both] == plain
    assert both[7][1] == ""
    assert command(text, "--alignments-output", str(links), lot=3)[1] == plain
    assert links.read_text().split("\n")[:-1] == [found for _, found in both]
    for line, found in both:
        pairs = [tuple(map(int, link.split("-"))) for link in found.split()]
        assert sorted({t for _, t in pairs}) == list(range(len(line.split())))
    soft = command(PROBE[0], "--alignments", "soft", "--align-layer", "1", "--align-heads", "0,2")[1][0]
    assert all(0 < float(link.split(":")[1]) <= 1 for link in soft.split(" ||| ")[1].split())
    assert command(PROBE[0], "--alignments", "0.5", "--align-heads", "mean", "--subwords")[0] == 0


def test_samples_do_not_depend_on_lots(flat_command: Command) -> None:
    flags = ("--sample", "--top-k", "20", "--seed", "5", "--max-length", "6", "-q")
    text = "\n".join(PROBE[:7])

    assert flat_command(text, *flags)[1] == flat_command(text, *flags, lot=2)[1]


def test_compressed_files(toy_bundle: Path, tmp_path: Path, command: Command) -> None:
    source, target = tmp_path / "source.gz", tmp_path / "target.gz"
    source.write_bytes(gzip.compress(f"{PROBE[0]}\n{PROBE[1]}".encode()))

    assert main(["-m", str(toy_bundle), "-i", str(source), "-o", str(target)]) == 0

    lines = gzip.decompress(target.read_bytes()).decode().split("\n")
    assert lines == [*command(f"{PROBE[0]}\n{PROBE[1]}\n")[1], ""]


def test_the_newest_model_is_used_and_named(
    toy_bundle: Path,
    flat_bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("su\n")
    assert main(["-i", "text"]) == 2
    assert "no model under checkpoints" in capfd.readouterr().err
    Path("checkpoints").mkdir()
    for name, bundle in (("old=1", flat_bundle), ("new=2", toy_bundle)):
        (Path("checkpoints") / name).mkdir()
        for file in bundle.iterdir():
            (Path("checkpoints") / name / file.name).write_bytes(file.read_bytes())
    past = time.time() - 1000
    os.utime("checkpoints/old=1/model.safetensors", (past, past))

    assert main(["-i", "text"]) == 0
    said = capfd.readouterr()
    assert "using the newest model, checkpoints/new=2" in said.err
    assert main(["-q", "-m", "checkpoints/new=2", "-i", "text"]) == 0
    quiet = capfd.readouterr()
    assert (quiet.out, quiet.err) == (said.out, "")
    assert sorted(path.name for path in Path().iterdir()) == ["checkpoints", "text"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--beam-size", "3", "--n-best", "5"], "n_best (5) is more than beam_size (3)"),
        (["--beem-size", "3"], "unknown argument '--beem-size'; did you mean '--beam-size'?"),
        (["text.txt"], "unknown argument 'text.txt'"),
        (["--beam", "3"], "unknown argument '--beam'"),
        (["-b", "many"], "invalid int value: 'many'"),
        (["--format", "xml"], "invalid choice: 'xml'"),
        (["--alignments", "hart"], "did you mean 'hard'"),
        (["--align-heads", "a"], "need alignments"),
        (["-i", "missing.txt"], "cannot read missing.txt"),
        (["-m", "missing"], "no model at missing"),
        (["--device", "tpu"], "invalid choice: 'tpu'"),
        (["--precision", "fp16", "--device", "cpu"], "fp16 needs a GPU"),
        (["-i", "text", "-o", "text"], "would be overwritten"),
        (["-i", "text", "--alignments-output", "text"], "would be overwritten"),
        (["-o", "same", "--alignments-output", "same"], "name the same file"),
        (["-o", "nowhere/out"], "cannot write nowhere/out"),
        (["--alignments", "--align-layer", "99"], "no decoder layer 99"),
        (["--workers", "0"], "workers must be at least 1, not 0"),
        (["--workers", "2", "-m", "missing"], "no model at missing"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    flat_bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    flags: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("su\n")

    assert main(["-m", str(flat_bundle), "-i", "text", *flags]) == 2

    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("translate: error: ")
    assert message in captured.err
    assert Path("text").read_text() == "su\n"


def test_running_out_of_memory_says_what_to_do(
    command: Command, monkeypatch: pytest.MonkeyPatch, flat_bundle: Path
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(Translator, "translate_lines", exhausted)

    status, _, said = command("su\n", "--batch-tokens", "4000")

    assert status == 2
    assert "try --batch-tokens 1000" in said


def test_cut_translations_are_counted_once_for_the_whole_stream(
    flat_command: Command, flat_translator: Translator
) -> None:
    found = flat_translator.translate(PROBE[:6], beam_size=1, max_length=1)
    cut = sum(not t.finished for t in found)
    said = flat_command("\n".join(PROBE[:6]), "--max-length", "1", "-b", "1", "-q", lot=2)[2]

    assert said.count("\n") == 1
    assert f"{cut} of 6 translations were cut at the length limit" in said


@pytest.fixture(autouse=True)
def _quiet_afterwards() -> object:
    """Leave no handler of ours on the package's logger."""
    yield
    logger = logging.getLogger("translator")
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


@pytest.mark.parametrize(("workers", "threads", "each"), [(1, 2, 2), (1, None, None), (2, None, 1), (2, 2, 1)])
def test_several_processes_load_with_one_thread(workers: int, threads: int | None, each: int | None) -> None:
    asked = argparse.Namespace(workers=workers, threads=threads, model="m", device="cpu", precision="float32")
    assert _loader(asked).args[-1] == each  # type: ignore[attr-defined]
