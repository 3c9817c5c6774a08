"""Batches from a corpus to a file and back; only real tokens count."""

from pathlib import Path

import pytest
import torch

from benchmarks.batch_file import read_batches, workload, write_batches
from benchmarks.real_batches import BatchJob, prepare_batches
from tests.training.runs import write_corpus
from translator.data.batching import collate
from translator.errors import UserError

IDS = {"vocab_size": 31, "pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}


def files(folder: Path) -> dict[str, object]:
    """The settings of a small parallel corpus."""
    parts = write_corpus(folder / "data")
    return {"kind": "files", "source": "aa", "target": "bb", "source_column": None, "target_column": None, **parts}


def test_padding_is_no_work() -> None:
    batches = [collate([([5, 6, 7], [8]), ([5], [8, 9])], 0, 2, 3), collate([([5, 6], [7, 8, 9, 10])], 0, 2, 3)]
    found = workload(batches)
    assert (found["steps"], found["sentences"]) == (2, 3)
    assert found["source_tokens"] == 4 + 2 + 3
    assert found["target_tokens"] == 2 + 3 + 5
    assert found["padding"] == pytest.approx(1 - 19 / (2 * 4 + 2 * 3 + 3 + 5))


def test_batches_come_back_as_they_were(tmp_path: Path) -> None:
    batches = [collate([([5, 6, 7], [8]), ([5], [8, 9])], 0, 2, 3), collate([([5], [7])], 0, 2, 3)]
    write_batches(tmp_path / "b.pt", batches, IDS)
    found, ids = read_batches(tmp_path / "b.pt")
    assert ids == IDS
    for before, after in zip(batches, found, strict=True):
        assert (after.n_tokens, after.n_source_tokens) == (before.n_tokens, before.n_source_tokens)
        assert all(torch.equal(a, b) for a, b in zip(after[:5], before[:5], strict=True))


def test_the_batches_are_those_of_an_epoch_within_the_budget(tmp_path: Path) -> None:
    job = BatchJob(str(tmp_path / "b.pt"), files(tmp_path), None, vocab_size=70, max_tokens=110, count=3)
    ids = prepare_batches(job)
    batches, stored = read_batches(job.path)
    assert ids == stored
    assert 30 < ids["vocab_size"] <= 70
    assert len(batches) == 3
    for batch in batches:
        assert len(batch.src_ids) * max(batch.src_ids.shape[1], batch.tgt_in.shape[1]) <= 110
        assert (batch.tgt_out == ids["eos_id"]).sum() == len(batch.tgt_out)


def test_more_batches_than_there_are_is_a_mistake(tmp_path: Path) -> None:
    job = BatchJob(str(tmp_path / "b.pt"), files(tmp_path), None, vocab_size=70, max_tokens=110, count=900)
    with pytest.raises(UserError, match=r"only \d+ batches of 110 tokens: take --steps \d+ or fewer"):
        prepare_batches(job)
    assert not Path(job.path).exists()
