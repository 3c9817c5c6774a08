"""Programs that do the same job in turn, each in a process of its own, and what is made of their answers."""

import json
import os
import statistics
import subprocess
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.figures import spread
from benchmarks.peers.common import NOT_HERE, Ids
from translator.errors import UserError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Program:
    """One way to do the work: a script, the interpreter it needs, and what of the job is its own."""

    name: str
    script: str
    python: str
    own: dict[str, Any] = field(default_factory=dict)
    of_beams: bool = False  # differs from another in when a beam search ends: says nothing of greedy search


def take_turns(
    programs: Sequence[Program], job: dict[str, Any], turns: int, scratch: Path
) -> dict[str, list[dict[str, Any]]]:
    """Every program once a turn, ours first -> the answers of each, turn by turn; none of one that cannot run here."""
    answers: dict[str, list[dict[str, Any]]] = {program.name: [] for program in programs}
    for _ in range(turns):
        for program in programs:
            answer = run_program(program, job, scratch / "job.json")
            answers[program.name] += [answer] if answer else []
    return answers


def run_program(program: Program, job: dict[str, Any], path: Path) -> dict[str, Any] | None:
    """One program, once, in a process of its own -> its answer, None where it says that it cannot run here."""
    path.write_text(json.dumps({**job, **program.own}), encoding="utf-8")
    done = run([program.python, str(HERE / program.script), str(path)])
    if done.returncode == NOT_HERE:
        return None
    if done.returncode:
        raise UserError(f"{program.name} failed: see above")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that can import the project, and keep what it prints on stdout."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    except FileNotFoundError as error:
        raise UserError(f"{command[0]} is missing: run compare.py setup, or name another with --python") from error


def rows_of(
    answers: dict[str, list[dict[str, Any]]], amount: int, unit: str, setting: str, found: Namespace
) -> list[dict[str, Any]]:
    """A row a program: its rate, and how many times as fast our fastest was in the same turns."""
    answers = {name: given for name, given in answers.items() if given}
    rates = {name: [amount / statistics.median(a["seconds"]) for a in given] for name, given in answers.items()}
    fastest = max((name for name in rates if name.startswith("ours")), key=lambda name: statistics.median(rates[name]))
    ours = next(iter(answers.values()))[0].get("outputs")
    rows = []
    for name, given in answers.items():
        ratios = [own / theirs for own, theirs in zip(rates[fastest], rates[name], strict=True)]
        first = given[0]
        rows.append({
            "program": name,
            "setting": setting,
            "unit": f"{unit} a second",
            **spread("rate", rates[name]),
            **spread("ratio", ratios),
            "fastest": fastest,
            "peak_mb": statistics.median(a["peak_mb"] for a in given),
            "baseline_mb": statistics.median(a["baseline_mb"] for a in given),
            "same_outputs": share_equal(ours, first.get("outputs")),
            "ran_as": first.get("ran_as"),
            "loss": first.get("loss"),
            "turns": found.turns,
            "threads": found.threads,
            "cpus": first["cpus"],
            "versions": first["versions"],
        })  # fmt: skip
    return rows


def share_equal(ours: list[Ids] | None, theirs: list[Ids] | None) -> float | None:
    """The share of sentences that came out alike, 0 to 1; None where there are none."""
    if not ours or theirs is None:
        return None
    return sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(ours)
