"""Key/value heads that become one are averaged, and nothing else about the model changes."""

import pytest
import torch

from tests.model.small import DH, B, H, T, alike, sites, small, sources, words
from translator.attention.heads import attentions
from translator.attention.multihead import MultiHeadAttention
from translator.attention.sharing import share_key_value_heads
from translator.errors import UserError
from translator.model.transformer import Transformer

#: By site; of the first groups of three heads a part goes, of the second ones all or nothing.
PRUNED = {"encoder.0": [1], "decoder.0": [3, 4, 5], "cross.0": [0, 2], "cross.1": list(range(H))}


def share(model: Transformer, present: int, n_kv_heads: int) -> None:
    for attention in attentions(model).values():
        share_key_value_heads(attention, present, n_kv_heads)


def kv_heads(attention: MultiHeadAttention) -> torch.Tensor:
    """Rows and biases of keys and values, head by head (G, 2 * Dh, D + 1)."""
    parts = [torch.cat((p.weight, p.bias[:, None]), dim=1) for p in (attention.k_proj, attention.v_proj)]
    return torch.cat([part.detach().unflatten(0, (-1, DH)) for part in parts], dim=1)


def in_steps(model: Transformer) -> torch.Tensor:
    """Logits of a cached decoding with two beams."""
    state = model.start(*sources()).select(torch.arange(B)[:, None].expand(B, 2))
    logits = []
    for ids in words(2 * B, T, seed=5).split(1, dim=1):
        hidden, state = model.extend(ids, state)
        logits.append(model.logits(hidden))
    return torch.cat(logits, dim=1)


@pytest.mark.parametrize("pruned", [{}, PRUNED], ids=["whole", "pruned"])
@pytest.mark.parametrize(("present", "n_kv_heads"), [(6, 3), (6, 2), (6, 1), (2, 1), (6, 6), (2, 2)])
@torch.no_grad()
def test_heads_that_are_alike_already_can_be_shared_without_a_trace(present, n_kv_heads, pruned):
    model = small(positions="rotary", **sites({6: "MHA", 2: "GQA"}[present], 3))
    for attention in attentions(model).values():
        for linear in (attention.k_proj, attention.v_proj):
            for parameter in linear.parameters():
                heads = parameter.unflatten(0, (present, DH))
                heads.copy_(heads[:: present // n_kv_heads].repeat_interleave(present // n_kv_heads, dim=0))
    model.prune_heads(pruned)
    before, before_steps = model(*sources(), words(B, T)), in_steps(model)

    share(model, present, n_kv_heads)

    alike(model(*sources(), words(B, T)), before)
    alike(in_steps(model), before_steps)
    assert all(attention.n_kv_heads <= n_kv_heads for attention in attentions(model).values())


def test_as_many_as_there_were_are_the_same_to_the_bit():
    model, same = small(), small()
    share(same, H, H)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), same.parameters(), strict=True))


def test_neighbours_become_their_mean_and_nothing_else_moves():
    model, shared = small(), small()
    share(shared, H, 2)
    for before, after in zip(attentions(model).values(), attentions(shared).values(), strict=True):
        alike(kv_heads(after), torch.stack([kv_heads(before)[:3].mean(dim=0), kv_heads(before)[3:].mean(dim=0)]))
        assert (after.n_kv_heads, after.head_to_kv.tolist()) == (2, [0, 0, 0, 1, 1, 1])
        assert after.k_proj.out_features == after.v_proj.out_features == 2 * DH
        assert torch.equal(before.q_proj.weight, after.q_proj.weight)
        assert torch.equal(before.out_proj.weight, after.out_proj.weight)


def test_what_was_pruned_is_not_averaged_and_a_group_without_heads_stays_gone():
    model = small()
    model.prune_heads(PRUNED)
    before = {site: kv_heads(attention) for site, attention in attentions(model).items()}
    share(model, H, 2)
    after = attentions(model)
    alike(kv_heads(after["encoder.0"])[0], before["encoder.0"][[0, 1]].mean(dim=0))  # heads 0 and 2 are left of three
    assert (after["decoder.0"].n_kv_heads, after["decoder.0"].head_to_kv.tolist()) == (1, [0, 0, 0])
    assert after["cross.0"].head_to_kv.tolist() == [0, 1, 1, 1]
    assert after["cross.1"].n_kv_heads == 0


@pytest.mark.parametrize("n_kv_heads", [4, 0, -1, 7])
def test_a_number_that_leaves_a_rest_is_refused(n_kv_heads):
    attention = attentions(small())["cross.0"]
    with pytest.raises(UserError, match=rf"6 key/value heads cannot become {n_kv_heads}: choose among 1, 2, 3"):
        share_key_value_heads(attention, H, n_kv_heads)
    assert attention.n_kv_heads == H
