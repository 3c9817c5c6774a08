import math

import torch

from translator.attention.rotary import rotate

T, DH = 7, 6


def rotated(x: torch.Tensor, position: int) -> torch.Tensor:
    return rotate(x.view(1, 1, 1, -1), torch.tensor([position])).flatten()


def test_position_zero_stays_as_it_is():
    x = torch.randn(2, 3, 1, DH, dtype=torch.float64)
    assert torch.equal(rotate(x, torch.tensor([0])), x)


def test_a_pair_is_turned_by_its_angle():
    """Dimension i and i + Dh/2 are a point of the plane; at position 5 the first pair has turned by 5 radians."""
    x = torch.tensor([1.0, 0.0, 0.0, 0.0, 2.0, 0.0], dtype=torch.float64)
    slow = 5 * 10_000 ** (-1 / 3)
    expected = [math.cos(5), -2 * math.sin(slow), 0.0, math.sin(5), 2 * math.cos(slow), 0.0]
    torch.testing.assert_close(rotated(x, 5), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-15)


def test_the_length_of_every_vector_stays():
    torch.manual_seed(1)
    x = torch.randn(2, 3, T, DH, dtype=torch.float64)
    turned = rotate(x, torch.arange(100, 100 + T))
    assert not torch.allclose(turned, x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), rtol=1e-13, atol=0)


def test_scores_depend_on_the_distance_only():
    torch.manual_seed(2)
    q, k = torch.randn(2, DH, dtype=torch.float64)
    scores = {shift: (rotated(q, 11 + shift) @ rotated(k, 4 + shift)).item() for shift in (0, 1, 13, 500)}
    assert max(scores.values()) - min(scores.values()) < 1e-11
    assert abs((rotated(q, 12) @ rotated(k, 4)).item() - scores[0]) > 1e-3


def test_every_column_is_turned_by_its_own_position():
    torch.manual_seed(3)
    x = torch.randn(1, 1, T, DH, dtype=torch.float64)
    whole = rotate(x, torch.arange(3, 3 + T))
    for column in range(T):
        torch.testing.assert_close(whole[0, 0, column], rotated(x[0, 0, column], 3 + column), rtol=0, atol=1e-15)


def test_narrow_types_are_turned_in_float32():
    """bfloat16 has no position 1001: its neighbours are 1000 and 1004."""
    torch.manual_seed(4)
    x = torch.randn(1, 1, 1, DH).bfloat16()
    position = torch.tensor([1001])
    turned = rotate(x, position)
    assert turned.dtype == torch.bfloat16
    torch.testing.assert_close(turned.double(), rotate(x.double(), position), rtol=0, atol=2e-2)
