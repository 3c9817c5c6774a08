"""Parts become a line: what stood between them stays, and links and tokens count on."""

import pytest

from translator.inference.encoding import Part
from translator.inference.joining import join
from translator.inference.translation import Translation


def joined(texts: list[str], before: list[str], subwords: bool = False) -> Translation:
    parts = [Part(0, [5], [0], before=space) for space in before]
    links = {True: [(0, 0)], False: []}  # none of a part without words
    candidates = [[Translation(text, -1.0, text.split(), links[text != ""], weights=[0.5])] for text in texts]
    return join(parts, candidates, subwords)


@pytest.mark.parametrize(
    ("texts", "before", "text", "targets"),
    [
        (["A b.", "C d."], ["", " "], "A b. C d.", [0, 2]),
        (["A b.", "C d."], ["", "  "], "A b.  C d.", [0, 2]),
        (["A b.", "C d."], ["", "\t"], "A b. C d.", [0, 2]),
        (["A b.", "C d."], ["", "\u2028"], "A b. C d.", [0, 2]),  # one line stays one line
        (["A b.", "C d."], ["", ""], "A b. C d.", [0, 2]),
        (["我很好。", "你呢？"], ["", ""], "我很好。你呢？", [0, 0]),
        (["我很好。", "C d."], ["", ""], "我很好。 C d.", [0, 1]),
        (["A b.", "C d."], ["", "\u00a0"], "A b.\u00a0C d.", [0, 1]),
        (["A b.", "", "C d."], ["", " ", " "], "A b. C d.", [0, 2]),
    ],
)
def test_separators_stay_and_links_count_words(
    texts: list[str], before: list[str], text: str, targets: list[int]
) -> None:
    found = joined(texts, before)
    assert found.text == text
    assert [t for _, t in found.alignment or []] == targets
    assert (found.score, found.weights) == (-1.0, [0.5] * len(texts))


def test_links_of_pieces_count_pieces() -> None:
    assert joined(["A b.", "C d."], ["", " "], subwords=True).alignment == [(0, 0), (0, 2)]


def test_ranks_are_joined_with_ranks_and_a_shorter_list_repeats_its_last() -> None:
    one, two, three = (Translation(text, score, [text]) for text, score in (("A", -1.0), ("B", -2.0), ("C", -4.0)))
    found = join([Part(0, [5], [0]), Part(0, [6], [1], before=" ")], [[one, two], [three]], False)
    assert [(entry.text, entry.score) for entry in found.n_best] == [("A C", -2.5), ("B C", -3.0)]
    assert found.text == "A C"
