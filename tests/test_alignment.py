"""Links from matrices that a human can read."""

import pytest
import torch

from translator.alignment import at_step, drop_last_column, extract, extract_words, merge_units, pharaoh
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


def test_words_are_hard_linked_if_any_of_their_pieces_are() -> None:
    """Word 0 of the target has two pieces, which choose different words; its weights are those between words."""
    pieces = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.0, 0.1, 0.9]])

    found = extract_words(pieces, [0, 0, 1], [0, 0, 1], "hard")

    assert found.links == [(0, 0), (1, 0), (1, 1)]
    assert found.weights == pytest.approx([0.65, 0.35, 0.9])
    assert extract_words(pieces, [0, 0, 1], [0, 0, 1], "hard", source_start=3).links == [(3, 0), (4, 0), (4, 1)]


def test_several_pieces_of_two_words_that_choose_each_other_make_one_link() -> None:
    assert extract_words(torch.eye(2), [0, 0], [0, 0], "hard").links == [(0, 0)]


def test_soft_links_and_thresholds_look_at_weights_between_words() -> None:
    pieces = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.0, 0.1, 0.9]])

    assert extract_words(pieces, [0, 0, 1], [0, 0, 1], 0.6).links == [(0, 0), (1, 1)]
    soft = extract_words(pieces, [0, 0, 1], [0, 0, 1], "soft", source_start=2)
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
