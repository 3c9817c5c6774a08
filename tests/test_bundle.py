import json
import os
import pickle
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from translator import bundle as bundles
from translator.bundle import (
    load_bundle,
    newest_bundle,
    read_config,
    save_bundle,
    save_weights,
    store_in_config,
)
from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.errors import UserError
from translator.files import write_json
from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

ROOT = Path(__file__).resolve().parents[1]
FILES = ["config.json", "model.safetensors", "tokenizer.model"]


def small(tokenizer: Tokenizer, seed: int = 1, **changes: object) -> Transformer:
    torch.manual_seed(seed)
    sizes = {"d_model": 14, "n_heads": 7, "n_encoder_layers": 2, "n_decoder_layers": 1, "d_ff": 11}
    return Transformer(ModelConfig(tokenizer.vocab_size, **(sizes | changes)))


@pytest.fixture
def bundle(toy_tokenizer: Tokenizer, tmp_path: Path) -> Path:
    directory = tmp_path / "bundles" / "one"
    save_bundle(directory, small(toy_tokenizer), toy_tokenizer, source="aa", target="bb", data={"kind": "pocket"})
    return directory


def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(2)
    valid = torch.arange(5) < torch.tensor([[5], [3]])
    return torch.randint(4, 100, (2, 5)), valid, torch.randint(4, 100, (2, 7))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tie_embeddings": "decoder", "norm": "post", "positions": "learned", "max_positions": 13},
        {"tie_embeddings": "none", "positions": "rotary", "decoder_attention": Site(1, 3), "cross_attention": Site(7)},
        {
            "output_bias": True,
            "embedding_norm": True,
            "embedding_scale": False,
            "norm_epsilon": 0.25,
            "activation": "silu",
        },
    ],
)
def test_what_is_saved_comes_back_bit_by_bit(changes: dict[str, object], toy_tokenizer: Tokenizer, tmp_path: Path):
    model = small(toy_tokenizer, **changes).eval()
    save_bundle(tmp_path, model, toy_tokenizer, source="aa", target="bb", data={"kind": "files"})
    loaded = load_bundle(str(tmp_path))
    assert loaded.model.config == model.config
    assert not loaded.model.training
    weights, again = (dict(m.named_parameters()) for m in (model, loaded.model))
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert torch.equal(loaded.model(*batch()), model(*batch()))
    assert loaded.config["data"] == {"kind": "files"}
    assert (loaded.config["source"], loaded.config["target"]) == ("aa", "bb")
    assert loaded.tokenizer.encode("zono waba") == toy_tokenizer.encode("zono waba")
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


@pytest.mark.parametrize(("tie_embeddings", "matrices"), [("all", 1), ("decoder", 2), ("none", 3)])
def test_tied_weights_are_stored_once_and_stay_tied(tie_embeddings, matrices, toy_tokenizer, tmp_path):
    save_bundle(tmp_path, small(toy_tokenizer, tie_embeddings=tie_embeddings), toy_tokenizer, source="aa", target="bb")
    stored = load_file(tmp_path / "model.safetensors")
    assert sum(tensor.shape[0] == toy_tokenizer.vocab_size for tensor in stored.values()) == matrices
    model = load_bundle(tmp_path).model
    embeddings = {model.src_embeddings.tokens.weight, model.tgt_embeddings.tokens.weight, model.output.weight}
    assert len(embeddings) == matrices


def test_the_config_is_readable_and_holds_what_loading_takes(bundle: Path):
    text = (bundle / "config.json").read_text(encoding="utf-8")
    config = json.loads(text)
    assert text.count("\n") > 20
    assert config["format"] == 1
    assert config["tokenizer"] == {"normalization": "nfc"}
    assert ModelConfig.from_dict(config["model"]) == load_bundle(bundle).model.config
    assert read_config(bundle) == config


def test_a_value_is_stored_in_the_config_and_all_else_is_left(bundle: Path):
    before = read_config(bundle)
    files = {path: path.read_bytes() for path in bundle.iterdir() if path.name != "config.json"}

    store_in_config(bundle, alignment={"layer": 1})
    store_in_config(bundle, alignment={"layer": 0})

    assert read_config(bundle) == before | {"alignment": {"layer": 0}}
    assert {path: path.read_bytes() for path in bundle.iterdir() if path.name != "config.json"} == files
    with pytest.raises(UserError, match=r"config\.json is missing"):
        store_in_config(bundle.parent, alignment={})


def test_storing_that_breaks_off_keeps_what_was_there(bundle: Path, monkeypatch: pytest.MonkeyPatch):
    before = read_config(bundle)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(UserError, match=r"cannot write .*config\.json: disk full"):
        store_in_config(bundle, alignment={"layer": 1})
    monkeypatch.undo()
    assert read_config(bundle) == before
    assert not list(bundle.glob(".*"))


def test_the_rule_of_normalisation_comes_back(tmp_path: Path):
    path = tmp_path / "own.model"
    lines = ["zono waba ½ koko", "rame no ² lulu"] * 7
    tokenizer = train_tokenizer(lines, path, kind="bpe", vocab_size=31, normalization="nfkc")
    save_bundle(tmp_path / "b", small(tokenizer), tokenizer, source="aa", target="bb")
    assert load_bundle(tmp_path / "b").tokenizer.normalization == "nfkc"


def refused(directory: Path, *parts: str) -> None:
    """One line that holds all the parts; nothing else goes wrong."""
    with pytest.raises(UserError, match=re.escape(parts[0])) as caught:
        load_bundle(directory)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path):
    refused(tmp_path / "nowhere", str(tmp_path / "nowhere"), "no model at")


def test_a_file_in_place_of_the_folder_is_named(bundle: Path):
    refused(bundle / "config.json", str(bundle / "config.json"), "give the folder")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(name: str, bundle: Path):
    (bundle / name).unlink()
    refused(bundle, str(bundle / name))


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_named(name: str, bundle: Path):
    (bundle / name).unlink()
    (bundle / name).mkdir()
    refused(bundle, str(bundle / name))


DAMAGE = {
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut at the end": lambda content: content[:-1],
    "empty": lambda content: b"",
    "a text": lambda content: b"A dog runs .\n" * 100,
    "zeros": lambda content: bytes(len(content)),
    "a picture": lambda content: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 7,
    "with a tail": lambda content: content + b"tail",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named(name: str, damage: str, bundle: Path):
    path = bundle / name
    if (name, damage) == ("config.json", "cut at the end"):
        path.write_text(path.read_text().rstrip())  # only the line's end may go
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    refused(bundle, str(path), "damaged or not a")


@pytest.mark.parametrize("content", ["[1, 2]", '"text"', "3", "null"])
def test_settings_that_are_no_object_are_damaged(content: str, bundle: Path):
    (bundle / "config.json").write_text(content)
    refused(bundle, str(bundle / "config.json"), "not a JSON object")


def changed(bundle: Path, **values: object) -> None:
    config = json.loads((bundle / "config.json").read_text())
    (bundle / "config.json").write_text(json.dumps(config | values))


@pytest.mark.parametrize("key", ["format", "source", "target", "model", "tokenizer"])
def test_a_missing_setting_is_named(key: str, bundle: Path):
    config = json.loads((bundle / "config.json").read_text())
    del config[key]
    (bundle / "config.json").write_text(json.dumps(config))
    refused(bundle, str(bundle / "config.json"), f"no {key}")


def test_a_later_format_asks_for_an_update(bundle: Path):
    (bundle / "config.json").write_text('{"format": 2, "everything": "different"}')
    refused(bundle, str(bundle / "config.json"), "format 2", "update")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"model": [1]}, "model: must be a mapping"),
        ({"model": {}}, "vocab_size"),
        ({"model": {"vocab_size": 110, "d_modle": 14}}, "did you mean 'd_model'"),
        ({"model": {"vocab_size": 110, "d_model": 15, "n_heads": 7}}, "multiple"),
        ({"tokenizer": "nfc"}, "tokenizer"),
        ({"tokenizer": {"normalization": "nfd"}}, "nfd"),
        ({"tokenizer": {"normalization": ["nfc"]}}, "nfc"),
        ({"tokenizer": {"lower": True}}, "lower"),
    ],
)
def test_settings_that_make_no_sense_are_named_with_their_file(values: dict, told: str, bundle: Path):
    changed(bundle, **values)
    refused(bundle, str(bundle / "config.json"), told)


def test_a_tokenizer_of_another_size_is_told_with_both_sizes(bundle: Path):
    train_tokenizer(["zono waba koko", "rame no lulu"] * 7, bundle / "tokenizer.model", kind="bpe", vocab_size=29)
    refused(bundle, str(bundle / "tokenizer.model"), "29", "110", "do not belong together")


def rewrite(bundle: Path, weights: dict[str, torch.Tensor]) -> None:
    save_file(weights, bundle / "model.safetensors")


def test_weights_must_fit_the_config(bundle: Path):
    path = bundle / "model.safetensors"
    weights = load_file(path)
    rewrite(bundle, weights | {"more.weight": torch.ones(3)})
    refused(bundle, str(path), "damaged", "unexpected tensor more.weight")
    rewrite(bundle, {name: w for name, w in weights.items() if name != "encoder.1.self_attn.k_proj.bias"})
    refused(bundle, str(path), "damaged", "missing tensor encoder.1.self_attn.k_proj.bias")
    rewrite(bundle, weights | {"decoder.0.feed_forward.up.bias": torch.ones(13)})
    refused(bundle, str(path), "decoder.0.feed_forward.up.bias has shape (13,)", "config.json beside it asks for (11,)")
    rewrite(bundle, weights | {"decoder.0.feed_forward.up.bias": torch.ones(1)})  # would broadcast
    refused(bundle, str(path), "decoder.0.feed_forward.up.bias has shape (1,)")
    rewrite(bundle, weights)
    load_bundle(bundle)


class Bomb:
    """What a stranger may put into a pickle."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_a_pickle_is_refused_and_never_run(bundle: Path, tmp_path: Path):
    mark, path = tmp_path / "ran", bundle / "model.safetensors"
    path.write_bytes(pickle.dumps(Bomb(mark)))
    refused(bundle, str(path), "damaged or not a checkpoint of this program")
    torch.save({"weights": Bomb(mark)}, path)
    refused(bundle, str(path), "damaged or not a checkpoint of this program")
    assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()


@contextmanager
def small_disk(limit: int) -> Iterator[None]:
    """No file may grow beyond ``limit`` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_full_disk_keeps_what_was_there(bundle: Path, toy_tokenizer: Tokenizer):
    before, other = contents(bundle), small(toy_tokenizer, seed=5)
    with small_disk(1000), pytest.raises(UserError, match=r"cannot write .*one/model\.safetensors"):
        save_weights(bundle, other)
    with small_disk(1000), pytest.raises(UserError, match=r"cannot write .*one/tokenizer\.model"):
        save_bundle(bundle, other, toy_tokenizer, source="cc", target="dd")
    assert contents(bundle) == before
    save_weights(bundle, other)
    assert contents(bundle) != before


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_save_that_breaks_off_keeps_what_was_there(error, bundle: Path, toy_tokenizer, monkeypatch):
    def broken(weights: object, path: Path, metadata: object) -> None:
        Path(path).write_bytes(b"half")
        raise error("broken off")

    before = contents(bundle)
    monkeypatch.setattr(bundles, "save_file", broken)
    with pytest.raises(error, match="broken off"):
        save_weights(bundle, small(toy_tokenizer, seed=5))
    assert contents(bundle) == before


def test_a_file_in_the_way_is_named(toy_tokenizer: Tokenizer, tmp_path: Path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "one"):
        with pytest.raises(UserError, match=f"cannot write {place}"):
            save_bundle(place, small(toy_tokenizer), toy_tokenizer, source="aa", target="bb")


def test_the_newest_bundle_is_the_one_whose_weights_are_newest(bundle: Path, toy_tokenizer: Tokenizer):
    root = bundle.parent
    names = ["two=2", "three [3]"]
    for name in names:
        save_bundle(root / name, small(toy_tokenizer), toy_tokenizer, source="aa", target="bb")
    for age, name in enumerate(["three [3]", "one", "two=2"]):
        os.utime(root / name / "model.safetensors", (1e9 - age, 1e9 - age))
    assert newest_bundle(root) == root / "three [3]"
    assert newest_bundle(str(root)) == root / "three [3]"
    os.utime(root / "one" / "model.safetensors", (2e9, 2e9))
    assert newest_bundle(root) == root / "one"
    write_json(root / "two=2" / "metrics.json", {})  # only a finished training writes these
    assert newest_bundle(root) == root / "two=2"


def test_unfinished_bundles_are_passed_over(bundle: Path):
    root = bundle.parent
    for name, file in (("begun", "config.json"), ("killed", ".model.safetensors.7.tmp"), ("odd", "model.safetensors")):
        (root / name).mkdir()
        (root / name / file).touch()
    (root / "README.md").touch()
    assert newest_bundle(root) == bundle


def test_no_bundle_at_all_says_what_to_do(tmp_path: Path):
    for root in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UserError, match=f"no model under {root}/: train one .* or name one with -m"):
            newest_bundle(root)


LIGHT = """
import sys
heavy = ("lightning", "pytorch_lightning", "hydra", "omegaconf", "datasets", "sacrebleu", "matplotlib", "rich")
sys.modules.update(dict.fromkeys(heavy))
import translator
assert {"Translation", "Translator"} <= set(dir(translator))
assert "torch" not in sys.modules, "importing the package must cost nothing"
from translator.bundle import load_bundle
model = load_bundle(sys.argv[1]).model
from translator import Translation, Translator
(translation,) = Translator.load(sys.argv[1], device="cpu").translate(["zono waba"], beam_size=2)
assert isinstance(translation, Translation)
print(sum(p.numel() for p in model.parameters()), flush=True)
"""


def test_using_a_bundle_needs_no_training_library(bundle: Path):
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, str(bundle)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == sum(w.numel() for w in load_file(bundle / "model.safetensors").values())
