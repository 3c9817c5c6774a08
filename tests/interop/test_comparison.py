"""An export is measured against its bundle."""

import sys
from pathlib import Path

import pytest
import torch

from tests.interop.models import pairs, untrained
from translator.bundle import Bundle
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.interop.comparison import largest_difference
from translator.interop.ctranslate2 import export_ctranslate2
from translator.interop.huggingface import export_huggingface

EXPORTS = {"ctranslate2": export_ctranslate2, "huggingface": export_huggingface}


@pytest.fixture
def bundle(toy_tokenizer: Tokenizer) -> Bundle:
    return untrained(toy_tokenizer, "pre", "sinusoidal", "all")


@pytest.mark.parametrize("to", EXPORTS)
def test_an_export_agrees_until_one_of_the_two_changes(bundle: Bundle, tmp_path: Path, to: str) -> None:
    EXPORTS[to](bundle, tmp_path / "out")
    given = pairs(bundle.tokenizer)

    difference, tolerance = largest_difference(bundle.model, bundle.tokenizer, tmp_path / "out", *given)
    assert 0 < difference <= tolerance <= 1e-4

    with torch.no_grad():
        bundle.model.decoder[2].cross_attn.v_proj.bias[4] += 0.05
    difference, tolerance = largest_difference(bundle.model, bundle.tokenizer, tmp_path / "out", *given)
    assert difference > tolerance


def test_rounded_weights_may_differ_by_more(bundle: Bundle, tmp_path: Path) -> None:
    export_ctranslate2(bundle, tmp_path / "out", "int8")
    difference, tolerance = largest_difference(
        bundle.model, bundle.tokenizer, tmp_path / "out", *pairs(bundle.tokenizer)
    )
    assert 1e-4 < difference <= tolerance == 3.0


def test_another_folder_and_a_missing_library_are_told(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = pairs(bundle.tokenizer)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match="is no exported model"):
        largest_difference(bundle.model, bundle.tokenizer, tmp_path, *given)
    export_huggingface(bundle, tmp_path / "out")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UserError, match="pip install transformers"):
        largest_difference(bundle.model, bundle.tokenizer, tmp_path / "out", *given)
    (tmp_path / "model.bin").write_bytes(b"nothing")
    with pytest.raises(UserError, match="CTranslate2 cannot use"):
        largest_difference(bundle.model, bundle.tokenizer, tmp_path, *given)
