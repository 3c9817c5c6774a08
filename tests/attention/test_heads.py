"""A closed head and a removed head give the same, whatever shares its keys and however the text is read."""

import pytest
import torch

from tests.model.small import SHARING, B, H, T, alike, sites, small, sources, words
from translator.attention.capture import capture
from translator.attention.heads import attentions, closing, gated, prune
from translator.errors import UserError
from translator.model.transformer import Transformer

SOME = {
    "encoder.0": [0, 1, 5],
    "encoder.1": [3],
    "decoder.0": [2],
    "decoder.1": [0, 4],
    "cross.0": [0, 1, 2],
    "cross.1": [5],
}
ALL = list(range(H))
CHOICES = {
    "some": SOME,
    "all of a layer": {"encoder.1": ALL, "decoder.0": ALL, "cross.1": ALL},
    "all there are": {f"{kind}.{layer}": ALL for kind in ("encoder", "decoder", "cross") for layer in (0, 1)},
}


def in_steps(model: Transformer) -> torch.Tensor:
    """Logits of a cached decoding with three beams, step by step: the fused kernel."""
    with torch.no_grad():
        state = model.start(*sources()).select(torch.arange(B)[:, None].expand(B, 3))
        logits = []
        for ids in words(3 * B, T, seed=5).split(1, dim=1):
            hidden, state = model.extend(ids, state)
            logits.append(model.logits(hidden))
    return torch.cat(logits, dim=1)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("sharing", SHARING)
def test_a_closed_head_is_a_removed_head(sharing, window, choice):
    model, tgt_in = small(positions="rotary", **sites(sharing, window)), words(B, T, seed=3)
    whole, heads = model(*sources(), tgt_in), CHOICES[choice]
    with gated(model, closing(model, heads)):
        closed, closed_steps = model(*sources(), tgt_in), in_steps(model)
    alike(model(*sources(), tgt_in), whole)  # opened again
    model.prune_heads(heads)
    removed = model(*sources(), tgt_in)
    alike(removed, closed)
    alike(in_steps(model), closed_steps)
    assert (removed - whole)[:, :, 4:].abs().max() > 1e-3
    again = Transformer(model.config).double().eval()
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(*sources(), tgt_in), removed)


def test_nothing_is_left_of_a_layer_but_the_bias_of_its_output():
    model = small()
    prune(model, {"cross.0": ALL})
    attention = attentions(model)["cross.0"]
    x = torch.randn(B, T, 12, dtype=torch.float64)
    out = attention(x, attention.project_kv(x), None)
    alike(out, attention.out_proj.bias.expand_as(out))
    with capture(model) as record:
        model(*sources(), words(B, T))
    assert record.cross[0].shape[1] == 0
    assert sum(p.numel() for p in attention.parameters()) == 12


def test_key_and_value_heads_go_with_their_last_reader():
    model = small(**sites("GQA", None))
    attention = attentions(model)["decoder.1"]
    prune(model, {"decoder.1": [0, 4]})
    assert (attention.kept, attention.head_to_kv.tolist()) == ((1, 2, 3, 5), [0, 0, 1, 1])
    prune(model, {"decoder.1": [1, 2]})
    assert (attention.kept, attention.head_to_kv.tolist(), attention.n_kv_heads) == ((3, 5), [0, 0], 1)
    assert attention.k_proj.weight.shape == (2, 12)
    assert attention.out_proj.weight.shape == (12, 4)


def test_pruning_in_two_goes_is_pruning_at_once():
    once, twice = (small(**sites("GQA", None)) for _ in range(2))
    once.prune_heads({"decoder.1": [0, 1, 4], "cross.0": [2]})
    twice.prune_heads({"decoder.1": [4], "cross.0": [2]})
    twice.prune_heads({"decoder.1": [0, 1]})
    assert once.config == twice.config
    assert all(torch.equal(a, b) for a, b in zip(once.parameters(), twice.parameters(), strict=True))


def test_a_line_of_gates_belongs_to_its_row():
    model, tgt_in = small(), words(B, T)
    gates = torch.ones(B, H, dtype=torch.float64)
    gates[1, 2] = 0.0
    with gated(model, {"cross.1": gates}):
        mixed = model(*sources(), tgt_in)
    with gated(model, closing(model, {"cross.1": [2]})):
        closed = model(*sources(), tgt_in)
    whole = model(*sources(), tgt_in)
    alike(mixed[[0, 2]], whole[[0, 2]])
    alike(mixed[1], closed[1])


def test_gates_of_before_are_restored_whatever_happens():
    model = small()
    attention, outer = attentions(model)["encoder.0"], torch.ones(H, dtype=torch.float64)
    with gated(model, {"encoder.0": outer}):
        with pytest.raises(RuntimeError, match="inside"), gated(model, {"encoder.0": 2 * outer}):
            raise RuntimeError("inside")
        assert attention.gates is outer
    assert attention.gates is None


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ({"encoder.7": [0]}, "there is no attention 'encoder.7'; there are encoder.0, encoder.1, decoder.0"),
        ({"encoder.0": [6]}, "encoder.0 has no head 6; its heads are 0, 1, 2, 3, 4, 5"),
        ({"cross.0": [3]}, "cross.0 has no head 3; its heads are 0, 1, 2, 4, 5"),
        ({"cross.1": [3]}, "cross.1 has no head 3; its heads are none"),
    ],
)
def test_what_is_not_there_cannot_be_removed_and_nothing_else_is(heads, message):
    model = small()
    model.prune_heads({"cross.0": [3], "cross.1": ALL})
    config = model.config
    for use in (model.prune_heads, lambda wrong: closing(model, wrong)):
        with pytest.raises(UserError, match=message):
            use({"decoder.0": [1], **heads})
    assert model.config is config
    assert attentions(model)["decoder.0"].n_heads == H
