"""The programs that need nothing but torch answer the jobs they are given."""

import json
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.batch_file import write_batches
from tests import toy
from translator.data.batching import collate
from translator.inference.translator import Translator

PEERS = Path(__file__).resolve().parents[2] / "benchmarks/peers"
IDS = {"vocab_size": 31, "pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
SIZES = {"d_model": 8, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 11, "dropout": 0.0,
         "attention_dropout": 0.0, "activation_dropout": 0.0, "norm": "pre"}  # fmt: skip


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[[str, dict[str, Any]], dict[str, Any]]]:
    threads = torch.get_num_threads()

    def in_process(script: str, job: dict[str, Any]) -> dict[str, Any]:
        (tmp_path / "job.json").write_text(json.dumps(job))
        monkeypatch.setattr(sys, "argv", [script, str(tmp_path / "job.json")])
        runpy.run_path(str(PEERS / script), run_name="__main__")
        answer: dict[str, Any] = json.loads(capfd.readouterr().out)
        return answer

    yield in_process
    torch.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # the library's own, for its own default
@pytest.mark.parametrize("script", ["ours_train.py", "torch_train.py"])
def test_training_begins_at_the_loss_of_a_guess(
    run: Callable[[str, dict[str, Any]], dict[str, Any]], tmp_path: Path, script: str
) -> None:
    batches = [collate([([5, 6, 7, 8], [9]), ([10], [11, 12])], 0, 2, 3), collate([([21, 22], [23, 24])], 0, 2, 3)]
    write_batches(tmp_path / "b.pt", batches, IDS)
    job = {
        "batches": str(tmp_path / "b.pt"),
        "model": SIZES,
        "threads": 1,
        "rounds": 2,
        "warmup": 1,
        "precision": "32-true",
    }
    answer = run(script, job)
    assert len(answer["seconds"]) == 2
    assert 2.0 < answer["loss"] < 6.0  # ln 31 is 3.4
    assert answer["versions"].keys() == {"torch", "python"}
    assert answer["peak_mb"] >= answer["baseline_mb"]


@pytest.mark.parametrize("beam", [1, 3])
def test_ours_writes_what_translating_does(
    run: Callable[[str, dict[str, Any]], dict[str, Any]], flat_bundle: Path, flat_translator: Translator, beam: int
) -> None:
    tokenizer = flat_translator.tokenizer
    lines = sorted(toy.sentences(5, seed=73), key=lambda line: -len(tokenizer.encode(line)))
    sources = [tokenizer.encode(line) for line in lines]
    limits = [2 * len(source) + 10 for source in sources]
    job = {"model": str(flat_bundle), "groups": [sources[:3], sources[3:]], "limits": [limits[:3], limits[3:]],
           "beam": beam, "threads": 1, "rounds": 1, "precision": "float32"}  # fmt: skip
    answer = run("ours_decode.py", job)
    expected = flat_translator.translate(lines, beam_size=beam)
    assert [tokenizer.pieces(ids) for ids in answer["outputs"]] == [t.tokens for t in expected]
