"""Hugging Face's classes read what we write, compute the same, and we read it back."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from tests import toy
from tests.interop.models import SENTENCES, TRAINED, VARIANTS, D, pairs, searched, trained, untrained
from translator.bundle import load_bundle
from translator.data.padding import pad
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference.translator import Translator
from translator.interop.huggingface import export_huggingface, import_huggingface
from translator.interop.layout import reordered, their_order
from translator.model.config import ModelConfig
from translator.model.embeddings import sinusoids

CPU = torch.device("cpu")
LIMIT = 25


@pytest.mark.parametrize(("norm", "positions", "tying"), VARIANTS)
def test_every_variant_has_the_same_logits(
    toy_tokenizer: Tokenizer,
    tmp_path: Path,
    norm: str,
    positions: str,
    tying: str,
) -> None:
    bundle = untrained(toy_tokenizer, norm, positions, tying)
    config = bundle.model.config
    export_huggingface(bundle, tmp_path / "out")
    theirs, told = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out", output_loading_info=True)
    assert type(theirs).__name__ == ("MarianMTModel" if norm == "post" else "PegasusForConditionalGeneration")
    assert not [told[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys") if told[kind]]
    sources, targets = pairs(toy_tokenizer)
    source, valid = pad([[*ids, config.eos_id] for ids in sources], config.pad_id, CPU)
    target_in, real = pad([[config.bos_id, *ids] for ids in targets], config.pad_id, CPU)

    with torch.no_grad():
        found = theirs(input_ids=source, attention_mask=valid.long(), decoder_input_ids=target_in).logits
        torch.testing.assert_close(found[real], bundle.model(source, valid, target_in)[real], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("norm", "positions", "tying"), TRAINED)
def test_the_search_finds_the_same_with_the_same_scores(
    toy_tokenizer: Tokenizer, tmp_path: Path, norm: str, positions: str, tying: str
) -> None:
    bundle = trained(toy_tokenizer, norm, positions, tying)
    export_huggingface(bundle, tmp_path / "out")
    theirs = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out")
    source, valid = pad([[*toy_tokenizer.encode(line), toy_tokenizer.eos_id] for line in SENTENCES], 0, CPU)

    said = theirs.generate(
        input_ids=source, attention_mask=valid.long(), max_length=1 + LIMIT, early_stopping="never",
        suppress_tokens=None, return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip

    ours = searched(bundle, LIMIT, length_penalty=1.0)
    ids = [row[1 : row.index(toy_tokenizer.eos_id)] for row in said.sequences.tolist()]
    assert ids == [list(hypothesis.ids) for hypothesis in ours]
    assert said.sequences_scores.tolist() == pytest.approx([hypothesis.score for hypothesis in ours], abs=1e-4)


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_a_trained_model_translates_text_alike_as_the_folder_is(toy_bundle: Path, tmp_path: Path) -> None:
    export_huggingface(load_bundle(toy_bundle), tmp_path / "out")
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")

    given = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    said = model.generate(**given, return_dict_in_generate=True, output_scores=True)

    ours = Translator.load(toy_bundle, device="cpu").translate(SENTENCES)
    assert tokenizer.batch_decode(said.sequences, skip_special_tokens=True) == [t.text for t in ours]
    assert sum(t.text == toy.expected(line) for t, line in zip(ours, SENTENCES, strict=True)) > len(ours) // 2
    assert said.sequences_scores.tolist() == pytest.approx([t.score for t in ours], abs=1e-4)


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_their_tokenizer_gives_our_ids(toy_tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = untrained(toy_tokenizer, "pre", "learned", "all")
    export_huggingface(bundle, tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    for line in [*SENTENCES, "qqq su", "a  b", ""]:
        assert tokenizer(line).input_ids == [*toy_tokenizer.encode(line), toy_tokenizer.eos_id], line


def test_sinusoids_are_those_that_the_class_makes(toy_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """So that nothing is lost where it makes them anew, as after saving: Marian's leaves them out of the file."""
    bundle = untrained(toy_tokenizer, "post", "sinusoidal", "all")
    export_huggingface(bundle, tmp_path / "out")
    theirs = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out")
    theirs.save_pretrained(tmp_path / "again")
    again = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "again")
    assert not [name for name in load_file(tmp_path / "again/model.safetensors") if "positions" in name]
    torch.testing.assert_close(
        again.model.encoder.embed_positions.weight, theirs.model.encoder.embed_positions.weight, rtol=0, atol=1e-6
    )
    ids = torch.tensor([[5, 7, 9, 3]])
    expected = bundle.model(ids, torch.ones_like(ids).bool(), ids)
    found = again(input_ids=ids, decoder_input_ids=ids).logits
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_the_order_puts_sines_first_and_goes_back() -> None:
    config = config_with("sinusoidal")
    order = their_order(config)
    table = sinusoids(7, D)
    angles = torch.arange(7)[:, None] * 10_000.0 ** (-2 * torch.arange((D + 1) // 2, dtype=torch.float64) / D)
    torch.testing.assert_close(table[:, order][:, : (D + 1) // 2], angles.sin())
    torch.testing.assert_close(table[:, order][:, (D + 1) // 2 :], angles[:, : D // 2].cos())
    weight = torch.randn(11, D)
    there = reordered("encoder.0.self_attn.q_proj.weight", weight, order)
    assert not torch.equal(there, weight)
    assert torch.equal(reordered("encoder.0.self_attn.q_proj.weight", there, order.argsort()), weight)
    assert torch.equal(their_order(config_with("learned")), torch.arange(D))


def config_with(positions: str) -> ModelConfig:
    return ModelConfig(vocab_size=11, d_model=D, n_heads=3, positions=positions)  # type: ignore[arg-type]


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(UserError, match=r"encoder\.0\.self_attn\.gate has no counterpart"):
        reordered("encoder.0.self_attn.gate", torch.ones(3), torch.arange(D))


@pytest.mark.parametrize(("norm", "positions", "tying"), VARIANTS)
def test_there_and_back_again(toy_tokenizer: Tokenizer, tmp_path: Path, norm: str, positions: str, tying: str) -> None:
    bundle = untrained(toy_tokenizer, norm, positions, tying)
    export_huggingface(bundle, tmp_path / "out")

    back = import_huggingface(tmp_path / "out")

    assert back.model.config == bundle.model.config
    ours, theirs = dict(bundle.model.named_parameters()), dict(back.model.named_parameters())
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert toy_tokenizer.pieces(range(99)) == back.tokenizer.pieces(range(99))
    assert (back.config["source"], back.config["target"]) == ("aa", "bb")
    assert "data" not in back.config


@pytest.fixture
def exported(toy_tokenizer: Tokenizer, tmp_path: Path) -> Path:
    export_huggingface(untrained(toy_tokenizer, "pre", "learned", "all"), tmp_path / "out")
    return tmp_path / "out"


def test_every_file_may_be_read_by_whoever_may_read_the_others(exported: Path) -> None:
    assert len({path.stat().st_mode for path in exported.iterdir()}) == 1


def test_folders_of_others_are_refused(exported: Path) -> None:
    config = json.loads((exported / "config.json").read_text())
    del config["translator"]
    (exported / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=r"was not written by scripts/export\.py"):
        import_huggingface(exported)


def test_a_damaged_folder_names_what_is_wrong(exported: Path) -> None:
    weights = load_file(exported / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if name != "model.encoder.layers.1.fc1.weight"}
    save_file(kept, exported / "model.safetensors")
    with pytest.raises(UserError, match=r"layers\.1\.fc1\.weight should have shape .*no tensor of this name"):
        import_huggingface(exported)
    save_file(kept | {"model.encoder.layers.1.fc1.weight": torch.zeros(2, 2)}, exported / "model.safetensors")
    with pytest.raises(UserError, match=r"should have shape \(23, 15\); there is \(2, 2\)"):
        import_huggingface(exported)
    (exported / "model.safetensors").write_bytes(b"x")
    with pytest.raises(UserError, match=r"model\.safetensors: damaged"):
        import_huggingface(exported)
    (exported / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        import_huggingface(exported)
    with pytest.raises(UserError, match="there is no folder"):
        import_huggingface(exported / "nowhere")
