"""Links from matrices that a human can read."""

import pytest
import torch

from translator.alignment.links import (
    Side,
    drop_last_column,
    extract,
    extract_words,
    link_words,
    merge_units,
    pharaoh,
    spoken,
)
from translator.alignment.steps import at_step
from translator.errors import UserError

#: Three steps, for a target of two pieces, over two source pieces and the end of sentence.
STEPS = torch.tensor([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.0, 0.9]])


def test_a_piece_is_read_where_it_is_written_or_one_step_later_where_it_is_read() -> None:
    assert torch.equal(at_step(STEPS, "output"), STEPS[:2])
    assert torch.equal(at_step(STEPS, "input"), STEPS[1:])
    assert extract(drop_last_column(at_step(STEPS, "output")), "hard").links == [(0, 0), (1, 1)]
    assert extract(drop_last_column(at_step(STEPS, "input")), "hard").links == [(1, 0), (0, 1)]
    assert at_step(STEPS.expand(5, 3, 3), "input").shape == (5, 2, 3)
    with pytest.raises(UserError, match="step must be one of output, input, not 'both'"):
        at_step(STEPS, "both")


def test_end_of_sentence_is_dropped_before_anything_else_and_rows_sum_to_one() -> None:
    weights = torch.tensor([[0.1, 0.3, 0.6], [0.05, 0.0, 0.95]])

    kept = drop_last_column(weights)

    assert kept == pytest.approx(torch.tensor([[0.25, 0.75], [1.0, 0.0]]))
    assert extract(kept, "hard").links == [(1, 0), (0, 1)]


def test_a_row_that_looked_at_the_end_alone_has_no_link_and_no_nan() -> None:
    kept = drop_last_column(torch.tensor([[0.0, 0.0, 1.0], [0.5, 0.25, 0.25]]))

    assert kept.isfinite().all()
    assert extract(kept, "hard").links == [(0, 1)]


def test_pieces_merge_by_sum_over_the_source_and_mean_over_the_target() -> None:
    pieces = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.0, 0.1, 0.9]])

    words = merge_units(pieces, [0, 0, 1], [0, 0, 1], 2, 2)

    assert words == pytest.approx(torch.tensor([[0.65, 0.35], [0.1, 0.9]]))


def test_many_pieces_win_together_over_one_strong_piece() -> None:
    pieces = torch.tensor([[0.2, 0.2, 0.2, 0.4]])

    assert extract(pieces, "hard").links == [(3, 0)]
    assert extract(merge_units(pieces, [0, 0, 0, 1], [0], 2, 1), "hard").links == [(0, 0)]


def letters(*words: int) -> Side:
    """Pieces of these words, all with letters."""
    return Side(words, [True] * len(words))


def test_a_target_word_is_linked_with_the_source_word_that_it_explains_most_of() -> None:
    """Every row looks at word 2 the most, which so is nobody's; its largest share is that of word 0."""
    words = torch.tensor([[0.4, 0.0, 0.6], [0.0, 0.4, 0.6], [0.1, 0.4, 0.5]])

    assert link_words(words) == [(0, 0), (1, 1), (1, 2)]
    assert link_words(torch.tensor([[0.4, 0.0, 0.6], [0.0, 0.4, 0.3], [0.1, 0.2, 0.7]])) == [(0, 0), (1, 1), (2, 2)]


def test_a_left_over_source_word_joins_where_a_neighbour_is_linked() -> None:
    """ "in the house" and "im Haus": the article has no word of its own. The last word's neighbour is elsewhere."""
    words = torch.tensor([[0.6, 0.3, 0.1, 0.3], [0.0, 0.1, 0.8, 0.0]])

    assert link_words(words) == [(0, 0), (1, 0), (2, 1)]


def test_words_without_weight_have_no_link() -> None:
    assert link_words(torch.tensor([[0.0, 0.0], [0.3, 0.0]])) == [(0, 1)]
    assert link_words(torch.zeros(0, 3)) == link_words(torch.zeros(3, 0)) == []


def test_hard_links_are_found_between_words_and_carry_the_weights_between_words() -> None:
    """A word's pieces add up: piece by piece both rows of word 0 would choose the second word."""
    pieces = torch.tensor([[0.3, 0.3, 0.4], [0.3, 0.3, 0.4], [0.0, 0.1, 0.9]])

    found = extract_words(pieces, letters(0, 0, 1), letters(0, 0, 1), "hard")

    assert found.links == [(0, 0), (1, 1)]
    assert found.weights == pytest.approx([0.6, 0.9])
    assert extract_words(pieces, letters(0, 0, 1), letters(0, 0, 1), "hard", source_start=3).links == [(3, 0), (4, 1)]


def test_attached_punctuation_does_not_speak_for_its_word() -> None:
    """Both lines are two words, the second with a full stop. A word that is nothing but a mark speaks for itself."""
    pieces = torch.tensor([[0.5, 0.2, 0.3], [0.3, 0.5, 0.2], [0.1, 0.1, 0.8]])
    side = Side([0, 1, 1], [True, True, False])

    assert spoken(pieces, side, side) == pytest.approx(torch.tensor([[0.5, 0.2], [0.3, 0.5]]))
    assert Side([0, 1, 1], [True, False, False]).speakers() == [0, 1, 2]
    assert extract_words(pieces, side, side, 0.3).weights == pytest.approx([0.5, 0.5, 0.8])  # soft: all pieces


def test_soft_links_and_thresholds_look_at_weights_between_words() -> None:
    pieces = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.0, 0.1, 0.9]])

    assert extract_words(pieces, letters(0, 0, 1), letters(0, 0, 1), 0.6).links == [(0, 0), (1, 1)]
    soft = extract_words(pieces, letters(0, 0, 1), letters(0, 0, 1), "soft", source_start=2)
    assert soft.links == [(2, 0), (3, 0), (2, 1), (3, 1)]
    assert soft.weights == pytest.approx([0.65, 0.35, 0.1, 0.9])


def test_words_without_pieces_keep_their_number_and_get_no_link() -> None:
    words = merge_units(torch.tensor([[0.9, 0.1], [0.2, 0.8]]), [0, 2], [0, 2], 3, 3)

    assert words.shape == (3, 3)
    assert extract(words, "hard").links == [(0, 0), (2, 2)]
    assert extract(words, "soft").links == [(0, 0), (2, 0), (0, 2), (2, 2)]


def test_threshold_and_soft_keep_every_link_that_is_strong_enough() -> None:
    matrix = torch.tensor([[0.5, 0.495, 0.005], [0.3, 0.3, 0.4]])

    assert extract(matrix, 0.4).links == [(0, 0), (1, 0), (2, 1)]
    soft = extract(matrix, "soft")
    assert soft.links == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]
    assert soft.weights == pytest.approx([0.5, 0.495, 0.3, 0.3, 0.4])


def test_links_are_shifted_for_a_later_part() -> None:
    assert extract(torch.eye(2), "hard", source_start=5, target_start=7).links == [(5, 7), (6, 8)]


@pytest.mark.parametrize("mode", ["hard", "soft", 0.5])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_an_empty_side_gives_no_links(shape: tuple[int, int], mode: str | float) -> None:
    assert extract(torch.zeros(shape), mode).links == []


def test_pharaoh_lines() -> None:
    assert pharaoh([]) == ""
    assert pharaoh([(0, 0), (11, 1)]) == "0-0 11-1"
    assert pharaoh([(0, 0), (11, 1)], [1.0, 0.12345]) == "0-0:1.000 11-1:0.123"
