"""CTranslate2 reads what we write, and says the same."""

import copy
import json
import sys
from dataclasses import replace
from pathlib import Path

import ctranslate2
import pytest
import sentencepiece
import torch

from tests import toy
from tests.interop.models import SENTENCES, TRAINED, VARIANTS, pairs, searched, trained, untrained
from translator.bundle import Bundle, load_bundle
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference.translator import Translator
from translator.interop.comparison import piece_scores
from translator.interop.ctranslate2 import export_ctranslate2
from translator.interop.dense import dense
from translator.model.config import Site

OURS = {"beam_size": 5, "length_penalty": 1, "min_decoding_length": 0, "return_scores": True}
PATIENT = OURS | {"patience": 40}  # our search goes on as long as something better may come
LIMIT = 25


def opened(bundle: Bundle, folder: Path, quantization: str | None = None) -> ctranslate2.Translator:
    export_ctranslate2(bundle, folder, quantization)
    return ctranslate2.Translator(str(folder), device="cpu", intra_threads=1)


@pytest.mark.parametrize(("norm", "positions", "tying"), VARIANTS)
def test_every_variant_scores_alike(
    toy_tokenizer: Tokenizer, tmp_path: Path, norm: str, positions: str, tying: str
) -> None:
    bundle = untrained(toy_tokenizer, norm, positions, tying)
    theirs = opened(bundle, tmp_path / "out")
    sources, targets = pairs(toy_tokenizer)

    scored = theirs.score_batch(*([toy_tokenizer.pieces(ids) for ids in side] for side in (sources, targets)))

    expected = piece_scores(bundle.model, sources, targets)
    for one, ours in zip(scored, expected, strict=True):
        assert one.log_probs == pytest.approx(ours.tolist(), abs=1e-4)


@pytest.mark.parametrize(("norm", "positions", "tying"), TRAINED)
def test_the_search_finds_the_same_with_the_same_scores(
    toy_tokenizer: Tokenizer, tmp_path: Path, norm: str, positions: str, tying: str
) -> None:
    bundle = trained(toy_tokenizer, norm, positions, tying)
    theirs = opened(bundle, tmp_path / "out")

    given = [toy_tokenizer.pieces(toy_tokenizer.encode(line)) for line in SENTENCES]
    found = theirs.translate_batch(given, **PATIENT, max_decoding_length=LIMIT)

    ours = searched(bundle, LIMIT, length_penalty=1.0)
    assert [one.hypotheses[0] for one in found] == [toy_tokenizer.pieces(hypothesis.ids) for hypothesis in ours]
    assert [one.scores[0] for one in found] == pytest.approx([hypothesis.score for hypothesis in ours], abs=1e-4)


def test_text_is_translated_alike_with_the_settings_we_name(toy_bundle: Path, tmp_path: Path) -> None:
    theirs = opened(load_bundle(toy_bundle), tmp_path / "out")
    processor = sentencepiece.SentencePieceProcessor(str(tmp_path / "out/tokenizer.model"))

    given = processor.encode(SENTENCES, out_type=str)
    settings = PATIENT | {"disable_unk": True}
    found = [theirs.translate_batch([one], **settings, max_decoding_length=2 * len(one) + 10)[0] for one in given]

    ours = Translator.load(toy_bundle, device="cpu").translate(SENTENCES)
    assert [processor.decode(one.hypotheses[0]) for one in found] == [t.text for t in ours]
    assert sum(t.text == toy.expected(line) for t, line in zip(ours, SENTENCES, strict=True)) > len(ours) // 2
    # Theirs share out what little the model gave to the unknown piece.
    assert [one.scores[0] for one in found] == pytest.approx([t.score for t in ours], abs=1e-3)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.7])
@pytest.mark.parametrize("shown", [False, True])
def test_the_end_of_sentence_counts_in_the_length_whether_it_is_shown_or_not(
    toy_bundle: Path, toy_tokenizer: Tokenizer, tmp_path: Path, length_penalty: float, shown: bool
) -> None:
    theirs = opened(load_bundle(toy_bundle), tmp_path / "out")
    given = [toy_tokenizer.pieces(toy_tokenizer.encode(line)) for line in SENTENCES]

    settings = PATIENT | {"length_penalty": length_penalty, "return_end_token": shown}
    found = theirs.translate_batch(given, **settings)

    ours = Translator.load(toy_bundle, device="cpu").translate(SENTENCES, length_penalty=length_penalty)
    end = ["</s>"] if shown else []
    same = [(one, t) for one, t in zip(found, ours, strict=True) if one.hypotheses[0] == t.tokens + end]
    assert len(same) > len(ours) // 2
    assert [one.scores[0] for one, _ in same] == pytest.approx([t.score for _, t in same], abs=1e-4)


def test_padding_and_begin_never_come_out(toy_tokenizer: Tokenizer, tmp_path: Path) -> None:
    theirs = opened(untrained(toy_tokenizer, "pre", "sinusoidal", "all"), tmp_path / "out")

    ctranslate2.set_random_seed(1)
    found = theirs.translate_batch(
        [[piece] for piece in toy_tokenizer.pieces(range(4, 24))], sampling_topk=0, beam_size=1, num_hypotheses=20,
        max_decoding_length=20,
    )  # fmt: skip

    said = {piece for one in found for hypothesis in one.hypotheses for piece in hypothesis}
    assert len(said) > 50
    assert not said & {"<pad>", "<s>"}


def test_quantised_weights_are_smaller_and_nearly_the_same(
    toy_bundle: Path, toy_tokenizer: Tokenizer, tmp_path: Path
) -> None:
    bundle = load_bundle(toy_bundle)
    theirs = opened(bundle, tmp_path / "int8", "int8")
    opened(bundle, tmp_path / "full")
    again = dict(load_bundle(toy_bundle).model.named_parameters())
    assert all(torch.equal(again[name], parameter) for name, parameter in bundle.model.named_parameters())

    found = theirs.translate_batch([toy_tokenizer.pieces(toy_tokenizer.encode(line)) for line in SENTENCES], **OURS)

    assert "int8" in theirs.compute_type
    sizes = [(tmp_path / kind / "model.bin").stat().st_size for kind in ("int8", "full")]
    assert sizes[0] < 0.75 * sizes[1]  # the table of positions stays as it is
    ours = Translator.load(toy_bundle, device="cpu").translate(SENTENCES)
    same = [one.hypotheses[0] == t.tokens for one, t in zip(found, ours, strict=True)]
    assert sum(same) > len(same) // 2


def test_the_folder_says_where_it_comes_from_and_tells_no_paths(toy_tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = untrained(toy_tokenizer, "post", "sinusoidal", "all")
    export_ctranslate2(bundle, tmp_path / "out")

    config = json.loads((tmp_path / "out/config.json").read_text(encoding="utf-8"))
    assert config["translator"]["model"] == bundle.model.config.to_dict()
    assert config["translator"]["tokenizer"] == {"normalization": "nfc"}
    assert (config["add_source_bos"], config["add_source_eos"]) == (False, True)
    assert all(b"secret" not in path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "out/tokenizer.model").stat().st_size > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder_attention": Site(window=3)}, "encoder_attention with window 3 cannot be exported"),
        ({"cross_attention": Site(top_k=1)}, "cross_attention with top_k 1 cannot be exported"),
        ({"positions": "rotary", "d_model": 24}, "positions rotary cannot be exported"),
        ({"activation": "gelu"}, "activation gelu cannot be exported"),
        ({"output_bias": True}, "output_bias True cannot be exported"),
    ],
)
def test_what_has_no_counterpart_is_named(
    toy_tokenizer: Tokenizer, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    positions = str(changes.pop("positions", "learned"))
    with pytest.raises(UserError, match=message):
        export_ctranslate2(untrained(toy_tokenizer, "pre", positions, "all", **changes), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_shared_and_removed_heads_are_written_out(toy_tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = trained(toy_tokenizer, *TRAINED[0])
    shared = untrained(toy_tokenizer, *TRAINED[0], cross_attention=Site(n_kv_heads=1)).model
    for model in (bundle.model, shared):
        lost = copy.deepcopy(model)
        lost.prune_heads({"encoder.0": [1], "decoder.2": [0, 2], "cross.1": [0, 1, 2]})
        whole = dense(lost, "CTranslate2")
        assert whole.config.pruned_heads == {}
        ids = torch.randint(4, toy_tokenizer.vocab_size, (3, 7), generator=torch.Generator().manual_seed(5))
        valid = torch.arange(7) < torch.tensor([7, 4, 2])[:, None]
        with torch.no_grad():
            torch.testing.assert_close(whole(ids, valid, ids), lost(ids, valid, ids), rtol=0, atol=1e-5)
    gone = replace(bundle, model=copy.deepcopy(bundle.model))
    gone.model.prune_heads({"encoder.0": [1], "decoder.2": [0]})
    theirs = opened(gone, tmp_path / "out")
    given = [toy_tokenizer.pieces(toy_tokenizer.encode(line)) for line in SENTENCES]
    found = theirs.translate_batch(given, **PATIENT, max_decoding_length=LIMIT)
    ours = searched(gone, LIMIT, length_penalty=1.0)
    assert [one.hypotheses[0] for one in found] == [toy_tokenizer.pieces(hypothesis.ids) for hypothesis in ours]


def test_a_missing_library_is_told(toy_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(UserError, match="CTranslate2 is not installed: pip install ctranslate2"):
        export_ctranslate2(untrained(toy_tokenizer, "pre", "learned", "all"), tmp_path / "out")


def test_an_unknown_quantization_and_a_folder_in_use_are_refused(toy_tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = untrained(toy_tokenizer, "pre", "learned", "all")
    with pytest.raises(UserError, match=r"quantization must be one of .*did you mean 'int8'"):
        export_ctranslate2(bundle, tmp_path / "out", "in8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").touch()
    with pytest.raises(UserError, match="out exists and is never overwritten"):
        export_ctranslate2(bundle, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
