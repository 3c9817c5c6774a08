"""Heat maps in the terminal keep their columns in every script and width."""

import torch

from translator.inspection.heatmap import display_width, heatmap, printable, shade


def test_a_small_matrix_is_drawn_with_headings_downwards() -> None:
    weights = torch.tensor([[0.95, 0.05, 0.0], [0.2, 0.35, 0.55]])
    assert heatmap(weights, ["▁A", "▁long"], ["▁to", "x", "</s>"]) == [
        "          <",
        "      ▁   /",
        "      t   s",
        "      o x >",
        "   ▁A ██",
        "▁long ░░▒▒▓▓",
    ]


def test_shades_grow_with_the_weight() -> None:
    assert [shade(weight) for weight in (0.0, 0.09, 0.1, 0.3, 0.5, 0.7, 1.0)] == list("  ░▒▓██")


def test_wide_and_combining_characters_keep_columns_in_place() -> None:
    lines = heatmap(torch.eye(3), ["你好", "e\u0301", "z"], ["你", "e\u0301e", "z"])
    assert [line for line in lines if "█" in line] == ["你好 ██", "   e\u0301   ██", "   z     ██"]
    assert lines[-4] == "     你e z"
    assert lines[-5] == "       e\u0301"
    assert display_width("你e\u0301") == 3


def test_what_is_too_wide_goes_on_below_with_the_rows_named_again() -> None:
    weights = torch.eye(5)
    lines = heatmap(weights, list("abcde"), list("ABCDE"), width=8)
    assert all(display_width(line) <= 8 for line in lines)
    assert lines[0] == "  A B C"
    assert lines[7] == "  D E"
    assert lines[6] == ""
    assert lines[8:] == ["a", "b", "c", "d ██", "e   ██"]


def test_a_terminal_narrower_than_a_name_still_shows_every_column() -> None:
    lines = heatmap(torch.eye(2), ["a very long name", "b"], ["A", "B"], width=5)
    assert sum("██" in line for line in lines) == 2


def test_characters_that_move_the_cursor_are_not_printed() -> None:
    assert printable("a\x1b[31m\u202eb\tc") == "a·[31m·b·c"
