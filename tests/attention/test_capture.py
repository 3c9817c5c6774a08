import pytest
import torch

from translator.attention.capture import capture
from translator.attention.multihead import MultiHeadAttention
from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

B, S, T, H, V = 2, 7, 5, 3, 53
ENCODERS, DECODERS = 3, 2


def model(**changes) -> Transformer:
    torch.manual_seed(1)
    sizes = {"d_model": 33, "n_heads": H, "n_encoder_layers": ENCODERS, "n_decoder_layers": DECODERS, "d_ff": 17}
    return Transformer(ModelConfig(V, dropout=0.0, **(sizes | changes))).double().eval()


def batch():
    torch.manual_seed(2)
    return torch.randint(4, V, (B, S)), torch.arange(S) < torch.tensor([[4], [7]]), torch.randint(4, V, (B, T))


@pytest.mark.parametrize("shared", [None, 1])
def test_every_layer_of_every_kind_tells_its_heads(shared):
    network, (src_ids, src_valid, tgt_in) = model(cross_attention=Site(shared), decoder_attention=Site(shared)), batch()
    with capture(network) as record:
        network(src_ids, src_valid, tgt_in)
    shapes = {kind: {layer: tuple(w.shape) for layer, w in getattr(record, kind).items()} for kind in vars(record)}
    assert shapes == {
        "encoder": dict.fromkeys(range(ENCODERS), (B, H, S, S)),
        "decoder": dict.fromkeys(range(DECODERS), (B, H, T, T)),
        "cross": dict.fromkeys(range(DECODERS), (B, H, T, S)),
    }
    for weights in (*record.encoder.values(), *record.decoder.values(), *record.cross.values()):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]).double(), rtol=0, atol=1e-12)
    assert all((w.triu(1) == 0).all() for w in record.decoder.values())
    assert all((w[0, :, :, 4:] == 0).all() for w in (*record.encoder.values(), *record.cross.values()))


def test_layers_are_numbered_from_the_first():
    """What the first layer tells cannot depend on the second."""
    network, inputs = model(), batch()
    with capture(network) as record:
        network(*inputs)
    with torch.no_grad():
        network.encoder[1].self_attn.q_proj.weight.mul_(3)
        network.decoder[1].cross_attn.q_proj.weight.mul_(3)
    with capture(network) as changed:
        network(*inputs)
    assert [torch.equal(record.encoder[i], changed.encoder[i]) for i in range(ENCODERS)] == [True, False, False]
    assert not torch.allclose(record.cross[1], changed.cross[1])


@pytest.mark.parametrize("grad", [True, False])
def test_listening_changes_no_output(grad):
    network, inputs = model(), batch()
    with torch.set_grad_enabled(grad):
        silent = network(*inputs)
        with capture(network):
            heard = network(*inputs)
        assert torch.equal(network(*inputs), silent)
    torch.testing.assert_close(heard, silent, rtol=0, atol=1e-12)


def test_weights_are_told_before_dropout():
    network, inputs = model(attention_dropout=0.5).train(), batch()
    with capture(network) as record:
        network(*inputs)
    assert (record.encoder[0][1] > 0).all()
    torch.testing.assert_close(record.cross[1].sum(-1), torch.ones(B, H, T).double(), rtol=0, atol=1e-12)


def test_in_decoding_step_by_step_the_newest_step_stands():
    network, (src_ids, src_valid, tgt_in) = model(), batch()
    with capture(network) as whole:
        network(src_ids, src_valid, tgt_in)
    state = network.start(src_ids, src_valid)
    for t in range(T):
        with capture(network) as step:
            _, state = network.extend(tgt_in[:, t : t + 1], state)
        assert step.encoder == {}
        torch.testing.assert_close(step.cross[1][:, :, 0], whole.cross[1][:, :, t], rtol=0, atol=1e-12)
        torch.testing.assert_close(step.decoder[1][:, :, 0], whole.decoder[1][:, :, t, : t + 1], rtol=0, atol=1e-12)


def test_listeners_of_before_come_back_even_after_an_error():
    network, inputs = model(), batch()
    attentions = [m for m in network.modules() if isinstance(m, MultiHeadAttention)]
    earlier = []
    attentions[1].on_weights = earlier.append
    with pytest.raises(TypeError, match="missing 2 required positional arguments"), capture(network):
        network(inputs[0])
    with capture(network):
        network(*inputs)
    assert earlier == []
    network(*inputs)
    assert len(earlier) == 1
    assert sum(a.on_weights is not None for a in attentions) == 1


def test_captures_may_be_nested():
    network, inputs = model(), batch()
    with capture(network) as outer:
        with capture(network) as inner:
            network(*inputs)
        assert outer.encoder == {}
        network(*inputs)
    assert torch.equal(outer.cross[0], inner.cross[0])
