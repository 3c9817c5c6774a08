"""A bundle with fewer key/value heads is a bundle that every command takes."""

from pathlib import Path
from types import ModuleType

import pytest
import torch

from tests import toy
from tests.scripts import load
from translator.bundle import load_bundle, save_new
from translator.compression.pruning import prune_bundle
from translator.compression.sharing import share_bundle
from translator.inference.translator import Translator
from translator.inspection.heads.names import Head

pytestmark = pytest.mark.usefixtures("level")

SOURCES = toy.sentences(5, seed=3, longest=4)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load("share_heads")


def test_the_new_bundle_says_what_it_is_and_translates(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    some, all_ = tmp_path / "some", tmp_path / "new/all"
    command = [str(flat_bundle), "--kv-heads", "2", "--site", "decoder", "--site", "cross", "--output", str(some)]
    assert script.main(command) == 0
    assert capfd.readouterr().out.splitlines()[:3] == [
        "decoder     2 of 4 key/value heads",
        "cross       2 of 4 key/value heads",
        "cache       512 of 1,024 bytes a target token, 512 of 1,024 a source token",
    ]
    config = load_bundle(some).model.config
    sites = (config.encoder_attention, config.decoder_attention, config.cross_attention)
    assert [site.n_kv_heads for site in sites] == [None, 2, 2]

    assert script.main([str(flat_bundle), "--kv-heads", "1", "--output", str(all_)]) == 0
    expected = share_bundle(load_bundle(flat_bundle), ("encoder", "decoder", "cross"), 1)
    for beam in (1, 5):
        found = Translator.load(all_).translate(SOURCES, beam_size=beam)
        assert found == Translator(expected.model, expected.tokenizer).translate(SOURCES, beam_size=beam)

    assert script.main([str(some), "--kv-heads", "2", "--output", str(all_)]) == 2
    assert "all exists and is never overwritten" in capfd.readouterr().err


def test_pruned_bundles_can_be_shared_and_shared_ones_pruned(flat_bundle: Path, tmp_path: Path) -> None:
    bundle = load_bundle(flat_bundle)
    gone = [
        Head("encoder", 0, 1),
        Head("decoder", 1, 2),
        Head("decoder", 1, 3),
        *(Head("cross", 0, n) for n in range(4)),
    ]
    pruned_first = share_bundle(prune_bundle(bundle, gone), ("encoder", "decoder", "cross"), 2)
    save_new(pruned_first, tmp_path / "small")
    loaded = load_bundle(tmp_path / "small").model
    assert loaded.config == pruned_first.model.config
    assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), pruned_first.model.parameters(), strict=True))
    pruned_last = prune_bundle(share_bundle(bundle, ("encoder", "decoder", "cross"), 2), gone)
    shapes = [[tuple(p.shape) for p in one.model.parameters()] for one in (pruned_first, pruned_last)]
    assert shapes[0] == shapes[1]
    assert pruned_last.model.config == loaded.config


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--kv-heads", "3"], "4 key/value heads cannot become 3: choose among 1, 2"),
        (["--kv-heads", "4"], "encoder: there are 4 key/value heads already; ask for fewer, or for other sites"),
        (["--kv-heads", "8", "--site", "cross"], "cross: there are 4 key/value heads already"),
        (["--kv-heads", "0"], "--kv-heads must be at least 1, not 0"),
        (["--kv-heads", "2", "--site", "middle"], "invalid choice: 'middle'"),
        (["--kv-heads", "2", "--finetune", "0"], "--finetune must be at least 1, not 0"),
        (["--kv-heads", "2", "--finetune", "1"], "training/settings.json is missing"),
        ([], "required: --kv-heads"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(
    script: ModuleType, flat_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str], arguments: list[str], expected: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert script.main([str(flat_bundle), *arguments, "--output", "n"]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert expected in err
    assert list(tmp_path.iterdir()) == []
