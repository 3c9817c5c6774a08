import pytest
import torch

from translator.attention.rules import both, causal, everywhere, within
from translator.errors import UserError


def drawn(rule, q_pos: range, k_pos: range) -> list[str]:
    """One line a query: x where it sees the key, . where it does not."""
    visible = rule(torch.tensor(q_pos), torch.tensor(k_pos))
    assert visible.dtype == torch.bool
    return ["".join(".x"[seen] for seen in row) for row in visible.tolist()]


def test_everywhere_hides_nothing():
    assert drawn(everywhere, range(2), range(3)) == ["xxx", "xxx"]


def test_causal_hides_what_comes_after():
    assert drawn(causal, range(5), range(5)) == [
        "x....",
        "xx...",
        "xxx..",
        "xxxx.",
        "xxxxx",
    ]


def test_a_window_reaches_to_both_sides():
    assert drawn(within(2), range(5), range(5)) == [
        "xx...",
        "xxx..",
        ".xxx.",
        "..xxx",
        "...xx",
    ]
    assert drawn(within(1), range(3), range(3)) == ["x..", ".x.", "..x"]
    assert drawn(within(7), range(2), range(3)) == ["xxx", "xxx"]


def test_a_causal_window_is_a_band():
    assert drawn(both(causal, within(3)), range(6), range(6)) == [
        "x.....",
        "xx....",
        "xxx...",
        ".xxx..",
        "..xxx.",
        "...xxx",
    ]


@pytest.mark.parametrize(
    ("keys", "seen"),
    [(range(7), "...xxxx"), (range(2, 7), ".xxxx"), (range(3, 7), "xxxx"), (range(5, 7), "xx")],
)
def test_a_single_query_at_position_6_with_a_window_of_4_sees_positions_3_to_6(keys, seen):
    assert drawn(both(causal, within(4)), range(6, 7), keys) == [seen]


def test_rules_look_at_positions_and_not_at_columns():
    """A chunk of queries 4 and 5 over cached keys 3 to 5."""
    assert drawn(causal, range(4, 6), range(3, 6)) == ["xx.", "xxx"]
    assert drawn(within(2), range(4, 6), range(2, 6)) == [".xxx", "..xx"]


@pytest.mark.parametrize("window", [0, -3])
def test_a_window_of_nothing_is_refused(window):
    with pytest.raises(UserError, match=f"window must be at least 1, not {window}"):
        within(window)
