"""The statistical aligner, on text whose links are known, and the plain diagonal."""

import random

from tests import toy
from translator.alignment.error_rate import alignment_error_rate
from translator.alignment.statistical import align_statistically, plain_diagonal

SOURCES = toy.sentences(200, seed=9)
TARGETS = [toy.expected(line) for line in SOURCES]


def test_words_find_their_counterparts_on_the_diagonal() -> None:
    gold = [[(i, i) for i in range(len(line.split()))] for line in SOURCES]

    assert alignment_error_rate(align_statistically(SOURCES, TARGETS), gold, gold).aer < 0.05


def test_counterparts_are_found_wherever_they_stand() -> None:
    rng = random.Random(2)
    shuffled, gold = [], []
    for line in TARGETS:
        words = line.split()
        order = rng.sample(range(len(words)), len(words))
        shuffled.append(" ".join(words[i] for i in order))
        gold.append([(s, t) for t, s in enumerate(order)])

    found = alignment_error_rate(align_statistically(SOURCES, shuffled), gold, gold)

    # A word may stand in its sentence twice, so not all can be found.
    assert found.aer < 0.3
    assert found.aer < alignment_error_rate(plain_diagonal(SOURCES, shuffled), gold, gold).aer - 0.3


def test_more_text_helps_and_has_no_links_of_its_own() -> None:
    few, more = (["ko su"], ["XX YY"]), (["ko", "su", "ko"] * 5, ["YY", "XX", "yy"] * 5)

    assert align_statistically(*few, more) == [[(1, 0), (0, 1)]]


def test_words_without_a_counterpart_come_from_nothing() -> None:
    """The word zu stands with every word alike."""
    sources = ["a", "b", "c", "d", "e", "f", "g", "h"] * 4
    targets = [f"{word.upper()} zu" for word in sources]

    found = align_statistically(sources, targets)

    assert all((0, 0) in links for links in found)
    assert all(t in (0, 1) for links in found for _, t in links)


def test_blank_sides_have_no_links() -> None:
    assert align_statistically(["", "a", ""], ["x", "", ""]) == [[], [], []]
    assert align_statistically([], []) == []
    assert align_statistically(["", "a"], ["x", "X"]) == [[], [(0, 0)]]
    assert plain_diagonal(["", "a", ""], ["x", "", ""]) == [[], [], []]


def test_the_diagonal_goes_from_corner_to_corner() -> None:
    assert plain_diagonal(["a b c"], ["x y z"]) == [[(0, 0), (1, 1), (2, 2)]]
    assert plain_diagonal(["a b"], ["w x y z"]) == [[(0, 0), (0, 1), (1, 2), (1, 3)]]
    assert plain_diagonal(["a b c d"], ["x y"]) == [[(1, 0), (3, 1)]]
    assert plain_diagonal(["a b c"], ["x"]) == [[(1, 0)]]
