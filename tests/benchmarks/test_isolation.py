"""A process of its own, from which results and mistakes come back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.isolation import isolated
from benchmarks.page import read_rows
from translator.errors import UserError


def test_a_result_comes_from_another_process() -> None:
    assert isolated(eval, "__import__('os').getpid()") not in (os.getpid(), None)


def test_a_mistake_comes_back_as_what_it_was(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*nowhere"):
        isolated(read_rows, tmp_path / "nowhere")


def test_a_process_that_dies_is_told_in_one_line() -> None:
    with pytest.raises(UserError, match="ended from outside, probably for want of memory"):
        isolated(os._exit, 9)


def test_the_peak_is_the_own_one_beside_what_was_before() -> None:
    """This process is large, and the kernel would have its child inherit the peak."""
    code = (
        "import json\n"
        "from benchmarks.memory import PeakMemory\n"
        "memory = PeakMemory()\n"
        "block = bytearray(b'x') * (50 << 20)\n"
        "print(json.dumps(memory.row()))\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    row = json.loads(done.stdout)
    assert 45 < row["added_mb"] < 70
    assert row["peak_mb"] == pytest.approx(row["baseline_mb"] + row["added_mb"], abs=0.11)
    assert row["baseline_mb"] < 60
