import random

import pytest

from translator.data.normalization import FORMS, normalize, visible


@pytest.mark.parametrize(
    "space", ["\t", "\u00a0", "\x0b", "\x0c", "\x85", "\u3000", "\u2028", "\r", "\n", "\0", "\u2581"]
)
@pytest.mark.parametrize("rule", FORMS)
def test_every_white_space_is_one_space(rule: str, space: str):
    assert normalize(f"{space}the{space} {space}dog{space}", rule) == "the dog"


def test_composed_and_decomposed_accents_are_one_under_nfc():
    assert normalize("cafe\u0301", "nfc") == normalize("caf\u00e9", "nfc") == "caf\u00e9"
    assert normalize("cafe\u0301", "none") == "cafe\u0301"


def test_only_nfkc_rewrites_compatibility_characters():
    text = "x² ½ … １２３ ﬁ ™"
    assert normalize(text, "nfc") == normalize(text, "none") == text
    assert normalize(text, "nfkc") == "x2 1⁄2 ... 123 fi TM"


def test_lone_surrogates_become_replacement_characters():
    assert normalize("a\ud83db", "nfc") == "a\ufffdb"


@pytest.mark.parametrize("rule", FORMS)
def test_words_can_be_normalised_one_by_one(rule: str):
    rng = random.Random(3)
    letters = "aeé\u0301\u0327\u0308 \t\u00a0\u2581\u00a8\u1100\u1161\u11a8ﬁ½\u0344\u0f71\u0f73"
    for _ in range(2000):
        line = "".join(rng.choice(letters) for _ in range(12))
        words = [normalize(word, rule) for word in line.replace("\t", " ").split(" ")]
        assert normalize(line, rule) == " ".join(filter(None, words))


def test_kinds_of_space_and_equal_accents_look_the_same():
    assert visible("e\u0301\u00a0 x ") == visible("é x")
    assert visible("½") != visible("1⁄2")
