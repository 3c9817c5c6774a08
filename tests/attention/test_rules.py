import pytest
import torch

from translator.attention.rules import View, both, causal, everywhere, strided, within
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


def test_a_stride_shows_neighbours_and_the_last_of_every_block():
    assert drawn(strided(3), range(8), range(8)) == [
        "xxx..x..",
        "xxxx.x..",
        "xxxxxx..",
        ".xxxxx..",
        "..xxxxx.",
        "..xxxxxx",
        "..x.xxxx",
        "..x..xxx",
    ]
    assert drawn(both(causal, strided(3)), range(8), range(8)) == [
        "x.......",
        "xx......",
        "xxx.....",
        ".xxx....",
        "..xxx...",
        "..xxxx..",
        "..x.xxx.",
        "..x..xxx",
    ]


def test_a_stride_looks_at_positions_and_not_at_columns():
    assert drawn(both(causal, strided(3)), range(6, 8), range(1, 8)) == [".x.xxx.", ".x..xxx"]


@pytest.mark.parametrize("stride", [0, -3])
def test_a_stride_of_nothing_is_refused(stride):
    with pytest.raises(UserError, match=f"stride must be at least 1, not {stride}"):
        strided(stride)


@pytest.mark.parametrize("rule", [everywhere, causal, within(2), both(causal, strided(3))])
def test_blocks_of_positions_are_ruled_side_by_side(rule):
    q_pos, k_pos = torch.arange(6).view(2, 3), torch.arange(8).view(2, 4)
    assert torch.equal(rule(q_pos, k_pos), torch.stack([rule(q_pos[0], k_pos[0]), rule(q_pos[1], k_pos[1])]))


def test_a_view_needs_no_mask_where_all_is_seen():
    q, k = torch.zeros(2, 1, 1, 3), torch.zeros(2, 1, 5, 3)
    real = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    assert View(4).visible(causal, q, k) is None
    assert View(3).visible(causal, q, k).tolist() == [[True] * 4 + [False]]
    assert View(valid=real).visible(everywhere, q, k).tolist() == [[[row]] for row in real.tolist()]
