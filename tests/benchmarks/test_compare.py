"""Programs in turn: who ran when, what was made of their answers."""

import argparse
import json
import sys
from pathlib import Path

import pytest

from benchmarks.page import section
from benchmarks.peers import compare, turns
from tests.benchmarks import rows
from translator.errors import UserError

FAKE = """\
import json, sys
job = json.load(open(sys.argv[1]))
with open(job["log"], "a") as log:
    log.write(job["name"])
print("noise")
print(json.dumps({"seconds": [job["seconds"]] * 3, "peak_mb": 1.0, "baseline_mb": 0.5, "versions": {"python": "3"},
                  "cpus": 2, "outputs": job["outputs"]}))
"""


def test_programs_take_turns_and_ratios_are_of_the_same_turn(tmp_path: Path) -> None:
    script, log = tmp_path / "fake.py", tmp_path / "log"
    script.write_text(FAKE)
    programs = [
        turns.Program(name, str(script), sys.executable, {"name": name[0], "seconds": seconds, "outputs": outputs})
        for name, seconds, outputs in (("ours", 2.0, [[1], [2], [3], [4]]), ("theirs", 5.0, [[1], [2], [9], [4]]))
    ]
    answers = turns.take_turns(programs, {"log": str(log)}, 2, tmp_path)
    assert log.read_text() == "otot"
    found = argparse.Namespace(turns=2, threads=1)
    ours, theirs = turns.rows_of(answers, 40, "sentences", "beam 5, batch 64", found)
    assert (ours["rate"], ours["ratio"], ours["same_outputs"]) == (20.0, 1.0, 1.0)
    assert (theirs["rate"], theirs["ratio"], theirs["same_outputs"]) == (8.0, 2.5, 0.75)
    assert json.loads(json.dumps(theirs)) == theirs
    assert "| theirs | beam 5, batch 64 | 8.00 sentences a second |" in section("peers-decode", [ours, theirs])[3]


def test_a_program_that_fails_or_is_missing_is_named(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit(3)")
    with pytest.raises(UserError, match="theirs failed"):
        turns.run_program(turns.Program("theirs", str(script), sys.executable), {}, tmp_path / "job.json")
    with pytest.raises(UserError, match=r"nowhere/python is missing: run compare\.py setup"):
        turns.run_program(turns.Program("x", str(script), "nowhere/python"), {}, tmp_path / "job.json")


def test_a_program_that_cannot_run_here_is_left_out(tmp_path: Path) -> None:
    fake, absent = tmp_path / "fake.py", tmp_path / "absent.py"
    fake.write_text(FAKE)
    absent.write_text("raise SystemExit(77)")
    own = {"name": "o", "seconds": 2.0, "outputs": [[1]], "log": str(tmp_path / "log")}
    programs = [
        turns.Program("ours", str(fake), sys.executable, own),
        turns.Program("theirs", str(absent), sys.executable),
    ]
    answers = turns.take_turns(programs, {}, 1, tmp_path)
    (row,) = turns.rows_of(answers, 40, "sentences", "", argparse.Namespace(turns=1, threads=1))
    assert (row["program"], row["rate"]) == ("ours", 20.0)


def test_limits_are_those_of_translating() -> None:
    assert compare.limit([7] * 6) == 22
    assert turns.share_equal(None, None) is None


def test_a_table_is_told_beside_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    row = rows.peer("ours", 1.0)
    assert list(compare.shown("peers-decode", [row])) == [row]
    assert "| ours | beam 5, batch 64 | 70.0 sentences a second |" in capsys.readouterr().err


def test_mistakes_are_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["train", "--data", "poket"]) == 2
    assert capfd.readouterr().err.splitlines() == [
        "compare.py: error: --data poket: no such corpus or file; did you mean 'pocket'?"
    ]
