"""Heads that share keys and values give what each would with a copy of its own."""

import pytest
import torch

from tests.model.small import alike
from translator.attention.groups import attend_groups
from translator.attention.kernels import attend_explicit, attend_fused

B, H, Q, K, DH = 3, 6, 4, 5, 2
MASKS = {"none": None, "padding": (B, 1, 1, K), "rule": (Q, K), "one for all": (1, K), "both": (B, 1, Q, K)}


def explicit(q, k, v, visible, dropout_p=0.0):
    return attend_explicit(q, k, v, visible, dropout_p)[0]


@pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("kernel", [attend_fused, explicit])
@pytest.mark.parametrize("n_groups", [6, 3, 2, 1])
def test_a_group_reads_what_its_heads_would_read_from_copies(n_groups, kernel, shape):
    torch.manual_seed(1)
    q = torch.randn(B, Q, H, DH, dtype=torch.float64).transpose(1, 2)  # laid out as projections leave them
    k, v = torch.randn(2, B, n_groups, K, DH, dtype=torch.float64)
    visible = None if shape is None else torch.rand(shape) > 0.4
    given = []

    def watched(q, k, v, visible, dropout_p):
        given.append((k, v))
        return kernel(q, k, v, visible, dropout_p)

    found = attend_groups(q, k, v, visible, 0.0, watched)

    copied = (x.repeat_interleave(H // n_groups, dim=1) for x in (k, v))
    alike(found, kernel(q, *copied, visible, 0.0))
    assert given[0][0] is k
    assert given[0][1] is v
