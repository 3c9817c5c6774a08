"""The page stands alone, holds what it was given, and lets no text become mark-up."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
import torch

from tests.inspection.pairs import made_pair, pair_of_words
from translator.alignment.reading import LayerHeads, Reading
from translator.inspection.page.build import build_page, pack, safe_json

PAGE = files("translator.inspection") / "page"
HOSTILE = [
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</SCRIPT >",
    "<!--",
    "]]>",
    "&lt;&amp;",
    '"onload="alert(1)',
    "'+alert(1)+'",
    "`${alert(1)}`",
    "a\u2028b\u2029c",
    "{{script}}",
    "\\u003c",
]


class Elements(HTMLParser):
    """Start tags with their attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data


def values_of(page: str) -> Any:
    data, _ = Elements(page).scripts
    return json.loads(data)


def unpack(packed: str, *shape: int) -> torch.Tensor:
    raw = base64.b64decode(packed)
    numbers = [int.from_bytes(raw[i : i + 2], "little") for i in range(0, len(raw), 2)]
    return torch.tensor(numbers).reshape(shape) / 65535


def test_the_page_asks_nobody_for_anything() -> None:
    page = build_page([made_pair()], "toy")
    addresses = [
        value for _, attributes in Elements(page).tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert addresses == ["data:,"]
    # The one address is the name of a namespace, which nobody asks for.
    assert set(re.findall(r"\w+://[^\"' ]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|\bimport\b", page)


def test_the_policy_names_the_script_and_the_style_that_stand_in_the_page() -> None:
    page = build_page([made_pair()], "toy")
    metas = [attributes for tag, attributes in Elements(page).tags if tag == "meta"]
    policy = next(a["content"] for a in metas if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name, text in (("script-src", Elements(page).scripts[1]), ("style-src", page.split("<style>")[1])):
        digest = base64.b64encode(hashlib.sha256(text.split("</style>")[0].encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_mark_up(text: str) -> None:
    plain = Elements(build_page([pair_of_words("a b", "c")], "toy")).tags
    page = build_page([pair_of_words(f"a {text}", text)], text, (text, text))
    parsed = Elements(page)
    assert parsed.tags == plain
    values = values_of(page)
    assert (values["name"], values["pairs"][0]["target"]["text"]) == (text, text)
    assert values["pairs"][0]["source"]["words"] == ["a", *text.split(" ")]


def test_json_in_a_script_has_nothing_that_html_reads() -> None:
    written = safe_json(["".join(HOSTILE), "ö 你好"])
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == ["".join(HOSTILE), "ö 你好"]
    assert "ö 你好" in written


def test_all_weights_are_in_the_page() -> None:
    pair = made_pair()
    weights = values_of(build_page([pair], "toy"))["pairs"][0]["weights"]
    for kind, layers in {"cross": pair.layers, "encoder": pair.encoder, "decoder": pair.decoder}.items():
        assert [layer["heads"] for layer in weights[kind]] == [len(layer) for layer in layers]
        for layer, expected in zip(weights[kind], layers, strict=True):
            torch.testing.assert_close(unpack(layer["packed"], *expected.shape), expected, atol=1e-5, rtol=0)


def test_weights_at_the_ends_are_exact() -> None:
    found = unpack(pack(torch.tensor([0.0, 1.0, 1.0 + 1e-6, 0.5])), 4)
    assert found.tolist() == pytest.approx([0, 1, 1, 0.5], abs=1e-5)


def test_several_pairs_are_in_their_order() -> None:
    pairs = values_of(build_page([pair_of_words(f"{n} x", f"{n}") for n in range(3)], "toy", ("en", "de")))
    assert [pair["source"]["text"] for pair in pairs["pairs"]] == ["0 x", "1 x", "2 x"]
    assert pairs["languages"] == ["en", "de"]


def test_a_long_pair_makes_no_large_page() -> None:
    words = " ".join(["word"] * 60)
    page = build_page([pair_of_words(words, words, heads=8, layers=6)], "toy")
    assert len(page) < 3_000_000


def test_the_page_is_part_of_the_package_and_readable() -> None:
    texts = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in PAGE.iterdir()
        if entry.is_file() and entry.suffix != ".py"
    }
    page = build_page([made_pair()], "toy")
    for name, text in texts.items():
        assert max(map(len, text.splitlines())) <= 130
        assert "\r" not in text
        if name.endswith(".js"):
            assert text in page  # no file is left over
            assert "</" not in text  # it would end its own element
            assert "innerHTML" not in text
    assert {"template.html", "page.css", "state.js"} < texts.keys()


def test_the_mean_of_several_layers_joins_them_under_its_name() -> None:
    pair = made_pair(Reading((LayerHeads(0, (0, 1, 2)), LayerHeads(1, (1,))), "input"))
    (values,) = values_of(build_page([pair], "toy"))["pairs"]
    assert values["reading"] == {"layer": 2, "heads": [0], "step": "input"}
    last = values["weights"]["cross"][2]
    assert (len(values["weights"]["cross"]), last["heads"], last["name"]) == (3, 1, "4 heads of layers 0+1")
    expected = torch.cat([pair.layers[0], pair.layers[1][1:]]).mean(dim=0)
    torch.testing.assert_close(unpack(last["packed"], *expected.shape), expected, rtol=0, atol=1e-5)
