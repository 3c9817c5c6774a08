"""The short table of where time goes."""

import pytest
import torch

from benchmarks.profiling import ROWS, Operation, show_profile, table


def test_the_slowest_stand_first_and_shares_sum_up() -> None:
    head, *lines = table([Operation(f"op{i}", i, 100.0 * i) for i in range(1, ROWS + 3)])
    assert "(15.3 ms in all)" in head
    assert [line.split()[-1] for line in lines[:2]] == ["op17", "op16"]
    assert lines[-1].split()[:3] == ["2.0%", "0.3", "3"]
    assert lines[-1].endswith("all others")
    assert sum(float(line.split()[0].rstrip("%")) for line in lines) == pytest.approx(100, abs=1)


def test_operations_of_the_work_are_told_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    show_profile(lambda: torch.ones(50, 50) @ torch.ones(50, 50), torch.device("cpu"))
    out, err = capfd.readouterr()
    assert out == ""
    assert "aten::mm" in err
