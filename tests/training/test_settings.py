"""What is worked out from the composed settings: names, paths, attention at each site."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from translator.errors import UserError
from translator.model.config import ModelConfig
from translator.training.config import absolute_paths, attention_site, check_numbers, model_settings, run_name

NUMBERS = ("n_kv_heads", "window", "stride", "top_k")
NO_CHOICE = {"kind": "mha", **dict.fromkeys(NUMBERS), "encoder": None, "decoder": None, "cross": None}


def named(name: str | None = None, variant: str | None = None, **data: Any) -> str:
    base = {"kind": "files", "source": "aa", "target": "bb"}
    return run_name({"name": name, "variant": variant, "data": base | data})


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"kind": "pocket", "source": "en", "target": "de"}, "pocket"),
        ({"kind": "pocket", "source": "de", "target": "en"}, "pocket-de-en"),
        ({"kind": "multi30k", "source": "en", "target": "de"}, "multi30k-en-de"),
        ({"kind": "hub", "path": "someone/opus_books"}, "opus_books-aa-bb"),
        ({}, "files-aa-bb"),
    ],
)
def test_a_run_is_called_after_its_corpus_and_languages(data: dict[str, Any], expected: str) -> None:
    assert named(**data) == expected
    assert named(variant="seed-2", **data) == f"{expected}_seed-2"
    assert named(name="mine", variant="seed-2", **data) == "mine_seed-2"


def test_a_name_may_hold_any_character_that_a_folder_may() -> None:
    assert named("über [1], (a)=b") == "über [1], (a)=b"


@pytest.mark.parametrize("name", ["a/b", "../a", "..", ".", "a\\b", "a\0b"])
def test_a_name_that_leaves_the_folder_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="must be a plain folder name"):
        named(name)


def test_paths_hold_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"kind": "files", "source": "aa", "train": ["../x.aa", "y.bb"], "valid": "v.tsv", "test": None}
    found = absolute_paths(files)
    assert found == {**files, "train": [f"{tmp_path}/../x.aa", f"{tmp_path}/y.bb"], "valid": f"{tmp_path}/v.tsv"}
    assert absolute_paths({"kind": "multi30k", "root": "m", "path": "p"}) == {
        "kind": "multi30k", "root": f"{tmp_path}/m", "path": "p",
    }  # fmt: skip
    assert absolute_paths({"kind": "hub", "path": "someone/set"})["path"] == "someone/set"
    (tmp_path / "someone/set").mkdir(parents=True)
    assert absolute_paths({"kind": "hub", "path": "someone/set"})["path"] == f"{tmp_path}/someone/set"
    assert absolute_paths({"kind": "pocket", "train": "train"})["train"] == "train"


@pytest.mark.parametrize(
    ("choice", "site", "expected"),
    [
        ({}, "encoder", (None, None)),
        ({"kind": "gqa", "n_kv_heads": 3}, "cross", (3, None)),
        ({"kind": "mqa"}, "decoder", (1, None)),
        ({"kind": "window", "window": 5}, "encoder", (None, 5)),
        ({"kind": "window", "window": 5}, "cross", (None, None)),
        ({"kind": "window", "window": 5, "decoder": "mqa"}, "decoder", (1, None)),
        ({"cross": "gqa", "n_kv_heads": 3}, "cross", (3, None)),
        ({"cross": "gqa", "n_kv_heads": 3}, "encoder", (None, None)),
    ],
)
def test_a_site_has_its_own_kind_or_the_common_one(
    choice: dict[str, Any], site: str, expected: tuple[int | None, int | None]
) -> None:
    found = attention_site(NO_CHOICE | choice, site)
    assert (found["n_kv_heads"], found["window"]) == expected


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"kind": "mla"}, "attention for encoder must be one of mha, gqa, mqa, window, strided, topk, not 'mla'"),
        ({"encoder": "causal"}, "attention for encoder must be one of .* not 'causal'"),
        ({"kind": "gqa"}, r"attention=gqa needs attention\.n_kv_heads"),
        ({"encoder": "window"}, r"attention=window needs attention\.window"),
        ({"kind": "strided"}, r"attention=strided needs attention\.stride"),
        ({"kind": "topk"}, r"attention=topk needs attention\.top_k"),
    ],
)
def test_a_kind_that_is_unknown_or_lacks_its_number_is_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        attention_site(NO_CHOICE | choice, "encoder")


@pytest.mark.parametrize(
    ("choice", "site", "expected"),
    [
        ({"kind": "strided", "stride": 5}, "encoder", {"stride": 5}),
        ({"kind": "strided", "stride": 5, "n_kv_heads": 2}, "decoder", {"stride": 5, "n_kv_heads": 2}),
        ({"kind": "strided", "stride": 5, "n_kv_heads": 2}, "cross", {"n_kv_heads": 2}),
        ({"kind": "topk", "top_k": 3, "stride": 5}, "cross", {"top_k": 3}),
        ({"kind": "window", "window": 7, "decoder": "topk", "top_k": 3}, "decoder", {"top_k": 3}),
        ({"kind": "window", "window": 7, "cross": "topk", "top_k": 3}, "cross", {"top_k": 3}),
    ],
)
def test_a_pattern_brings_its_own_number_and_may_share_heads(
    choice: dict[str, Any], site: str, expected: dict[str, int]
) -> None:
    assert attention_site(NO_CHOICE | choice, site) == dict.fromkeys(NUMBERS) | expected


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"window": 8}, r"attention\.window=8 would change nothing: it belongs to attention=window, and here is mha;"),
        ({"stride": 8}, r"attention\.stride=8 would change nothing"),
        ({"kind": "window", "window": 5, "top_k": 4}, r"attention\.top_k=4 would change nothing"),
        ({"n_kv_heads": 2}, r"attention\.n_kv_heads=2 .* belongs to attention=gqa, window, strided, topk, and here is"),
        ({"kind": "mqa", "n_kv_heads": 2}, r"attention\.n_kv_heads=2 .*here is mqa"),
        ({"kind": "window", "window": 5, **dict.fromkeys(("encoder", "decoder", "cross"), "mha")}, r"window=5 would"),
        ({"kind": "window", "window": 5, "decoder": "mqa"}, None),
        ({"encoder": "strided", "stride": 5, "n_kv_heads": 2}, None),
        ({"kind": "topk", "top_k": 4, "n_kv_heads": 2}, None),
    ],
)
def test_a_number_that_would_change_nothing_is_refused(choice: dict[str, Any], message: str | None) -> None:
    if message is None:
        check_numbers(NO_CHOICE | choice)
        return
    with pytest.raises(UserError, match=message):
        model_settings({"model": {}, "attention": NO_CHOICE | choice}, SimpleNamespace())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"cross": "window", "window": 5}, r"attention\.cross=window has no meaning"),
        ({"cross": "strided", "stride": 5}, r"attention\.cross=strided has no meaning"),
        ({"cross": "causal"}, "attention for cross must be one of .* not 'causal'"),
    ],
)
def test_cross_attention_has_no_pattern_of_positions(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        attention_site(NO_CHOICE | choice, "cross")
    assert "\n" not in str(caught.value)


def test_settings_of_before_the_patterns_still_hold() -> None:
    older = {"kind": "window", "n_kv_heads": None, "window": 5, "encoder": None, "decoder": "mqa", "cross": None}
    assert attention_site(older, "encoder") == dict.fromkeys(NUMBERS) | {"window": 5}
    assert attention_site(older, "decoder") == dict.fromkeys(NUMBERS) | {"n_kv_heads": 1}


def test_vocabulary_and_special_ids_come_from_the_tokenizer() -> None:
    tokenizer: Any = SimpleNamespace(vocab_size=53, pad_id=0, unk_id=1, bos_id=2, eos_id=3)
    sizes = {"d_model": 12, "n_heads": 6, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 5}
    settings = {"model": sizes, "attention": NO_CHOICE | {"kind": "gqa", "n_kv_heads": 3, "encoder": "mqa"}}
    config = ModelConfig.from_dict(model_settings(settings, tokenizer))
    assert (config.vocab_size, config.eos_id, config.d_model) == (53, 3, 12)
    assert (config.encoder_attention.n_kv_heads, config.cross_attention.n_kv_heads) == (1, 3)
