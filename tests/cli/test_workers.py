"""Several processes: each takes its threads once it is there, and the one that they are forked from has none."""

import subprocess
import sys

import pytest

COUNTED = """
import sys, torch
from translator.inference.options import TranslateOptions
from translator.cli.workers import Workers

class Counting:
    def translate_lines(self, lines, options, first_line):
        torch.randn(1 << 20).exp()  # enough for all threads there are
        return [torch.get_num_threads() for _ in lines]

def load():
    torch.set_num_threads(1)
    torch.randn(1 << 20).exp()
    return Counting()

workers = Workers(load, 2, *map(int, sys.argv[1:]))
print([found for _, counts in workers.translate([["a"] * 600], TranslateOptions()) for found in counts])
workers.close()
"""


@pytest.mark.parametrize(("asked", "each"), [([], 1), (["2"], 2)])
def test_processes_take_their_threads_after_they_began(asked: list[str], each: int) -> None:
    command = [sys.executable, "-c", COUNTED, *asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"{[each] * 600}\n"
