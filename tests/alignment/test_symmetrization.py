"""Two sets of links as one, on matrices that a human can read: rows are target words, columns source words."""

import pytest

from translator.alignment.symmetrization import symmetrize
from translator.errors import UserError

Links = list[tuple[int, int]]


def drawn(*rows: str) -> Links:
    """Links of a drawing."""
    return [(s, t) for t, row in enumerate(rows) for s, mark in enumerate(row) if mark == "x"]


FORWARD = drawn(
    "x....",
    ".x...",
    ".x...",
    ".....",
    "....x",
)
BACKWARD = drawn(
    "x....",
    ".xx..",
    ".....",
    ".....",
    "x..x.",
)


def test_intersection_and_union() -> None:
    assert symmetrize(FORWARD, BACKWARD, "intersection") == [(0, 0), (1, 1)]
    assert symmetrize(FORWARD, BACKWARD, "union") == drawn(
        "x....",
        ".xx..",
        ".x...",
        ".....",
        "x..xx",
    )


def test_growing_adds_neighbours_of_words_without_a_link_and_what_becomes_their_neighbour() -> None:
    """Right of (1, 1) stands a source word without a link, below it a target word; the last row touches nothing."""
    assert symmetrize(FORWARD, BACKWARD, "grow-diag") == drawn(
        "x....",
        ".xx..",
        ".x...",
        ".....",
        ".....",
    )


def test_growing_goes_on_from_what_was_added_across_corners_too() -> None:
    one = drawn("x...", ".x..", "..x.", "...x")
    other = drawn("x...")
    assert symmetrize(one, other, "grow-diag") == one
    assert symmetrize(other, one, "grow-diag") == one


def test_growing_does_not_link_two_words_that_both_have_links() -> None:
    forward = drawn("xx", "xx")
    backward = drawn("x.", ".x")
    assert symmetrize(forward, backward, "grow-diag") == backward


def test_the_neighbour_that_comes_first_takes_the_word() -> None:
    """Target word 1 lies below both (0, 0) and (1, 0); visiting word by word, (0, 0) grows first."""
    forward = drawn("xx", "xx")
    backward = drawn("xx", "..")
    assert symmetrize(forward, backward, "grow-diag") == drawn("xx", "x.")


def test_nothing_grows_from_nothing() -> None:
    assert symmetrize(drawn("x."), drawn(".x"), "grow-diag") == []
    assert symmetrize([], [], "union") == []


def test_other_names_are_refused() -> None:
    with pytest.raises(UserError, match="must be one of intersection, union, grow-diag, not 'grow-dia'; did you mean"):
        symmetrize([], [], "grow-dia")
