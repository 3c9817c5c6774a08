"""The timed update is training's update, and its row counts what was done."""

import copy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from benchmarks.batch_file import workload, write_batches
from benchmarks.training import LABEL_SMOOTHING, LEARNING_RATE, TrainJob, Updates, train_row
from translator.data.batching import Batch, collate
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer
from translator.training.step import average_and_clip

IDS = {"vocab_size": 31, "pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
SIZES = {"d_model": 6, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 11, "dropout": 0.0}


def batches() -> list[Batch]:
    first = collate([([5, 6, 7, 8], [9]), ([10], [11, 12]), ([13, 14], [15])], 0, 2, 3)
    return [first, collate([([21, 22], [23, 24, 25])], 0, 2, 3)]


def model() -> Transformer:
    torch.manual_seed(3)
    return Transformer(ModelConfig(**IDS, **SIZES))  # type: ignore[arg-type]


def test_gradients_are_averaged_then_clipped() -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    other = torch.nn.Parameter(torch.zeros(1))  # without a gradient
    weight.grad = torch.tensor([30.0, 40.0])
    assert float(average_and_clip([weight, other], torch.tensor(0.1), 0.0)) == pytest.approx(5.0)
    assert weight.grad.tolist() == pytest.approx([3.0, 4.0])
    assert float(average_and_clip([weight, other], torch.tensor(1.0), 1.0)) == pytest.approx(5.0)
    assert weight.grad.tolist() == pytest.approx([0.6, 0.8], abs=1e-5)


def test_an_update_is_a_plain_one_on_the_mean_loss() -> None:
    ours, plain = model().double(), model().double().train()
    updates = Updates(ours, "32-true")
    optimizer = torch.optim.AdamW(
        [{"params": [p], "weight_decay": 0.01 * (p.dim() > 1)} for p in plain.parameters()],
        lr=LEARNING_RATE, betas=(0.9, 0.98), eps=1e-9,
    )  # fmt: skip
    for batch in batches():
        logits = plain(batch.src_ids, batch.src_valid, batch.tgt_in)[batch.tgt_valid][:, [1, *range(3, 31)]]
        targets = batch.tgt_out[batch.tgt_valid] - 2  # what may be produced: all but padding and begin
        loss = F.cross_entropy(logits, targets, label_smoothing=LABEL_SMOOTHING)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        optimizer.step()
        assert updates.update(batch) == pytest.approx(float(loss.detach()), abs=1e-5)
    start = model().double()
    for name, parameter in ours.named_parameters():
        if not name.endswith("k_proj.bias"):  # its gradient is zero but for rounding, and Adam divides by its size
            torch.testing.assert_close(parameter, plain.get_parameter(name), rtol=0, atol=1e-7)
    assert any((p - start.get_parameter(name)).abs().max() > 1e-4 for name, p in ours.named_parameters())


def test_mixed_precision_is_another_computation() -> None:
    exact, mixed = model(), model()
    first = Updates(exact, "32-true").update(batches()[0])
    second = Updates(mixed, "bf16-mixed").update(batches()[0])
    assert first != second
    assert first == pytest.approx(second, rel=0.05)


def test_a_row_counts_real_tokens(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_batches(tmp_path / "b.pt", batches(), IDS)
    threads = torch.get_num_threads()
    try:
        job = TrainJob(
            str(tmp_path / "b.pt"), "toy", copy.copy(SIZES), precision="32-true", device="cpu", threads=1, profile=True
        )
        row = train_row(job)
    finally:
        torch.set_num_threads(threads)
    work = workload(batches())
    assert (work["source_tokens"], work["target_tokens"]) == (5 + 2 + 3 + 3, 2 + 3 + 2 + 4)
    assert row | work == row
    assert row["tokens_per_second"] == pytest.approx(24 / row["seconds"])
    assert row["target_tokens_per_second"] == pytest.approx(11 / row["seconds"])
    assert row["sentences_per_second"] == pytest.approx(4 / row["seconds"])
    assert row["seconds_min"] <= row["seconds"] <= row["seconds_max"]
    assert (row["kind"], row["model"], row["precision"], row["threads"]) == ("train", "toy", "32-true", 1)
    assert row["parameters"] == sum(p.numel() for p in model().parameters())
    assert row["peak_mb"] == pytest.approx(row["baseline_mb"] + row["added_mb"], abs=0.11)
    assert {"cpus", "cpu_capability", "device"} <= row.keys()
    assert row["versions"]["torch"] == torch.__version__
    assert "ms in all" in capfd.readouterr().err
