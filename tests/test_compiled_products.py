import os

import pytest

from translator.device import keep_compiled_products


def test_compiled_products_are_kept_unless_the_user_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    keep_compiled_products()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "16384"
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")
    keep_compiled_products()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "7"
