import math

import pytest
import torch
import torch.nn.functional as F

from tests.model.small import (
    DH,
    POSITIONS,
    SHARING,
    SOURCES,
    B,
    D,
    H,
    S,
    T,
    V,
    alike,
    config,
    sites,
    small,
    sources,
    words,
)
from translator.attention.capture import capture
from translator.errors import UserError
from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

BOTH_NORMS = pytest.mark.parametrize("norm", ["pre", "post"])
ALL_POSITIONS = pytest.mark.parametrize("positions", POSITIONS)


@BOTH_NORMS
@ALL_POSITIONS
def test_the_future_has_no_influence_on_a_single_bit(norm, positions):
    model, (src_ids, src_valid), tgt_in = small(norm=norm, positions=positions), sources(), words(B, T, seed=3)
    logits = model(src_ids, src_valid, tgt_in)
    for t in range(T):
        changed = tgt_in.clone()
        changed[:, t] = 4 + (changed[:, t] - 3) % (V - 4)
        found = model(src_ids, src_valid, changed)
        assert torch.equal(found[:, :t], logits[:, :t])
        assert not torch.isclose(found[:, t:, 4:], logits[:, t:, 4:], rtol=0, atol=1e-9).all(-1).any()


@ALL_POSITIONS
@pytest.mark.parametrize("window", [None, 2])
def test_padding_changes_nothing(positions, window):
    model = small(positions=positions, **sites("MHA", window))
    (src_ids, src_valid), tgt_in = sources(), words(B, T, seed=3)
    logits = model(src_ids, src_valid, tgt_in)
    wider = F.pad(src_ids, (0, 4), value=9), F.pad(src_valid, (0, 4), value=False), F.pad(tgt_in, (0, 3), value=0)
    alike(model(*wider)[:, :T], logits, 1e-12)
    for i, length in enumerate(SOURCES):
        alone = src_ids[i : i + 1, :length]
        alike(model(alone, torch.ones_like(alone).bool(), tgt_in[i : i + 1, :3]), logits[i : i + 1, :3], 1e-12)


def test_the_order_of_the_batch_changes_nothing():
    model, (src_ids, src_valid), tgt_in = small(), sources(), words(B, T, seed=3)
    order = torch.tensor([2, 0, 1])
    alike(model(src_ids[order], src_valid[order], tgt_in[order]), model(src_ids, src_valid, tgt_in)[order], 1e-12)


@ALL_POSITIONS
@pytest.mark.parametrize("side", ["source", "target"])
def test_the_order_of_the_words_matters(positions, side):
    model, src_ids, tgt_in = small(positions=positions), words(1, S), words(1, T, seed=3)
    valid = torch.ones_like(src_ids).bool()
    logits = model(src_ids, valid, tgt_in)
    swapped = [2, 1, 0, *range(3, 7)]
    other = model(src_ids[:, swapped], valid, tgt_in) if side == "source" else model(src_ids, valid, tgt_in[:, swapped])
    assert (other[:, -1, 4:] - logits[:, -1, 4:]).abs().max() > 1e-6


def test_padding_and_begin_of_sentence_have_no_probability():
    model, (src_ids, src_valid), tgt_in = small(pad_id=11, bos_id=7), sources(), words(B, T, seed=3)
    logits = model(src_ids, src_valid, tgt_in)
    impossible = torch.zeros(V, dtype=torch.bool)
    impossible[[7, 11]] = True
    assert (logits[..., impossible] == -math.inf).all()
    assert logits[..., ~impossible].isfinite().all()
    first, _ = model.step(tgt_in[:, 0], model.start(src_ids, src_valid))
    assert torch.equal(first == -math.inf, impossible.expand_as(first))


@BOTH_NORMS
@pytest.mark.parametrize("tie_embeddings", ["all", "decoder", "none"])
def test_the_first_loss_is_about_that_of_a_guess(norm, tie_embeddings):
    torch.manual_seed(1)
    size = 997
    model = Transformer(ModelConfig(size, 64, 4, 2, 2, 128, norm=norm, tie_embeddings=tie_embeddings)).eval()
    src_ids, tgt_in = torch.randint(4, size, (11, 13)), torch.randint(4, size, (11, 13))
    tgt_out = torch.randint(4, size, (11, 13))
    loss = F.cross_entropy(model(src_ids, torch.ones_like(src_ids).bool(), tgt_in).flatten(0, 1), tgt_out.flatten())
    assert math.log(size) - 0.1 < loss < math.log(size) + 1.0


@BOTH_NORMS
@ALL_POSITIONS
@pytest.mark.parametrize(("sharing", "tie_embeddings"), [("MHA", "all"), ("GQA", "decoder"), ("MQA", "none")])
def test_every_parameter_learns(norm, positions, sharing, tie_embeddings):
    model = small(norm=norm, positions=positions, tie_embeddings=tie_embeddings, **sites(sharing, 3))
    (src_ids, src_valid), tgt_in = sources(), words(B, T, seed=3)
    F.cross_entropy(model(src_ids, src_valid, tgt_in).flatten(0, 1), words(B * T, seed=4)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        # A key's bias moves all scores of a query alike, unless it is turned by its position.
        assert (parameter.grad != 0).any() or name.endswith("k_proj.bias"), name


def test_padding_gets_no_gradient():
    model, (src_ids, src_valid), tgt_in = small(tie_embeddings="none"), sources(), words(B, T, seed=3)
    tgt_in[:, 4:] = 0
    loss = F.cross_entropy(model(src_ids, src_valid, tgt_in)[:, :4].flatten(0, 1), words(B * 4, seed=4))
    loss.backward()
    assert (model.src_embeddings.tokens.weight.grad[0] == 0).all()
    assert (model.tgt_embeddings.tokens.weight.grad[0] == 0).all()


@pytest.mark.parametrize(("tie_embeddings", "matrices"), [("all", 1), ("decoder", 2), ("none", 3)])
def test_tied_embeddings_are_one_matrix(tie_embeddings, matrices):
    model = Transformer(config(tie_embeddings=tie_embeddings))
    weights = [model.src_embeddings.tokens.weight, model.tgt_embeddings.tokens.weight, model.output.weight]
    assert len({w.data_ptr() for w in weights}) == matrices
    assert (weights[1] is weights[2]) == (tie_embeddings != "none")
    assert (weights[0] is weights[1]) == (tie_embeddings == "all")
    linear = lambda a, b: a * b + b  # noqa: E731
    attention, norm, ff = 4 * linear(D, D), 2 * D, linear(D, 17) + linear(17, D)
    layers = 2 * (attention + ff + 2 * norm) + 2 * (2 * attention + ff + 3 * norm) + 2 * norm
    assert sum(p.numel() for p in model.parameters()) == matrices * V * D + layers


def test_shared_heads_save_parameters():
    sizes = {name: sum(p.numel() for p in Transformer(config(**sites(name, None))).parameters()) for name in SHARING}
    one_head = 6 * 2 * (D * 2 + 2)  # six attentions, keys and values
    assert sizes["MHA"] - sizes["GQA"] == 4 * one_head
    assert sizes["GQA"] - sizes["MQA"] == one_head


def test_every_site_does_what_its_setting_says():
    model = small(encoder_attention=Site(3, 2), decoder_attention=Site(2, 4), cross_attention=Site(1))
    for layer in model.encoder:
        assert layer.self_attn.k_proj.out_features == 3 * DH
    for layer in model.decoder:
        assert layer.self_attn.k_proj.out_features == 2 * DH
        assert layer.cross_attn.v_proj.out_features == 1 * DH
    with capture(model) as record:
        model(words(1, S), torch.ones(1, S).bool(), words(1, T, seed=3))
    distance = (torch.arange(S)[:, None] - torch.arange(S)).expand(1, H, S, S)
    assert all(torch.equal(w > 0, distance.abs() < 2) for w in record.encoder.values())
    assert all(torch.equal(w > 0, (distance >= 0) & (distance < 4)) for w in record.decoder.values())
    assert all((w > 0).all() for w in record.cross.values())


def test_learned_positions_end():
    model, (src_ids, src_valid) = small(positions="learned", max_positions=T), sources()
    model(src_ids, src_valid, words(B, T))
    with pytest.raises(UserError, match="the model has 7 learned positions; a sequence needs 8"):
        model(src_ids, src_valid, words(B, T + 1))
    with pytest.raises(UserError, match="7 learned positions; a sequence needs 11"):
        model.encode(words(1, 11), torch.ones(1, 11).bool())
    state = model.start(src_ids, src_valid)
    _, state = model.extend(words(B, T), state)
    with pytest.raises(UserError, match="7 learned positions; a sequence needs 8"):
        model.step(words(B), state)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_other_positions_go_on(positions):
    model, (src_ids, src_valid) = small(positions=positions, max_positions=T), sources()
    assert model(src_ids, src_valid, words(B, 97))[..., 4:].isfinite().all()


def test_dropout_works_in_training_only():
    for changes in ({"dropout": 0.5}, {"attention_dropout": 0.5}, {"activation_dropout": 0.5}):
        model, inputs = small(**changes), (*sources(), words(B, T, seed=3))
        assert torch.equal(model(*inputs), model(*inputs)), changes
        model.train()
        assert not torch.equal(model(*inputs), model(*inputs)), changes


def test_bfloat16_autocast_stays_near():
    model = small().float()
    inputs = (*sources(), words(B, T, seed=3))
    with torch.no_grad():
        expected = model(*inputs)
        with torch.autocast("cpu", torch.bfloat16):
            found = model(*inputs).float()
            first, _ = model.step(inputs[2][:, 0], model.start(*inputs[:2]))
    torch.testing.assert_close(found, expected, rtol=0, atol=0.2)
    torch.testing.assert_close(first.float(), expected[:, 0], rtol=0, atol=0.2)


@pytest.mark.parametrize("output_bias", [False, True])
def test_impossible_ids_get_no_logit_and_the_rest_are_products(output_bias):
    torch.manual_seed(2)
    model = Transformer(config(pad_id=0, bos_id=11, output_bias=output_bias))
    hidden, added = torch.randn(3, 5, D), torch.zeros(V)
    if output_bias:
        added = torch.arange(float(V))
        model.output_bias.data.copy_(added)
    logits = model.logits(hidden)
    assert (logits[..., [0, 11]] == float("-inf")).all()
    possible = [i for i in range(V) if i not in {0, 11}]
    torch.testing.assert_close(logits[..., possible], (hidden @ model.output.weight.T + added)[..., possible])
    torch.log_softmax(logits, dim=-1)[..., possible].sum().backward()
    assert model.output.weight.grad.isfinite().all()
