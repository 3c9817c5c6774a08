"""One class, by its configuration: an encoder alone, a decoder alone, a decoder over vectors from elsewhere."""

import pytest
import torch
import torch.nn.functional as F

from tests.model.small import B, D, S, T, V, alike, small, sources, words
from translator.attention.capture import capture
from translator.model.layers import ACTIVATIONS, FeedForward

ENCODER = {"n_decoder_layers": 0}
DECODER = {"n_encoder_layers": 0, "cross": False}
FOREIGN = {"n_encoder_layers": 0, "memory_dim": 5}


def parts(model) -> set[str]:
    return {name.split(".")[0] for name, _ in model.named_parameters()}


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_stack_alone_has_no_parameters_but_its_own(positions):
    encoder, decoder = small(positions=positions, **ENCODER), small(positions=positions, **DECODER)
    assert parts(encoder) == {"src_embeddings", "encoder", "encoder_norm"}
    assert parts(decoder) == {"src_embeddings", "decoder", "decoder_norm"}
    sizes = [sum(p.numel() for p in model.parameters()) for model in (encoder, decoder)]
    assert sizes[0] == sizes[1]  # a decoder layer without cross-attention has the parts of an encoder layer
    assert parts(small(**FOREIGN)) == {"src_embeddings", "decoder", "decoder_norm"}


def test_parameters_have_the_names_that_stand_in_files():
    attention = [f"{name}_proj.{kind}" for name in ["q", "k", "v", "out"] for kind in ("weight", "bias")]
    network = [f"feed_forward.{name}.{kind}" for name in ("up", "down") for kind in ("weight", "bias")]
    norm = ["norm.weight", "norm.bias"]
    encoder = [
        *(f"self_attn.{n}" for n in attention),
        *network,
        *(f"{r}_residual.{n}" for r in ("self", "ff") for n in norm),
    ]
    decoder = [*encoder, *(f"cross_attn.{n}" for n in attention), *(f"cross_residual.{n}" for n in norm)]
    expected = {"src_embeddings.tokens.weight", *(f"{stack}_{n}" for stack in ("encoder", "decoder") for n in norm)}
    expected |= {f"encoder.{i}.{n}" for i in range(2) for n in encoder} | {
        f"decoder.{i}.{n}" for i in range(2) for n in decoder
    }
    assert {name for name, _ in small().named_parameters()} == expected


def test_an_encoder_sees_both_sides():
    model, (src_ids, src_valid) = small(**ENCODER), sources()
    with capture(model) as record:
        memory = model.encode(src_ids, src_valid)
    assert memory.shape == (B, S, D)
    assert all((weights[0] > 0).all() for weights in record.encoder.values())
    assert model.logits(memory).shape == (B, S, V)


@pytest.mark.parametrize("positions", ["sinusoidal_halves", "learned", "rotary", "none"])
def test_a_decoder_alone_reads_in_chunks_what_it_reads_at_once(positions):
    model, ids = small(positions=positions, **DECODER), words(B, T)
    whole = model.logits(model.extend(ids, model.start_alone(B))[0])
    for chunk in (1, 3):
        state, read = model.start_alone(B), 0
        for piece in ids.split(chunk, dim=1):
            hidden, state = model.extend(piece, state)
            alike(model.logits(hidden), whole[:, read : read + piece.shape[1]])
            read += piece.shape[1]
    changed = ids.clone()
    changed[:, 4] = 4 + (changed[:, 4] - 3) % (V - 4)
    assert torch.equal(model.logits(model.extend(changed, model.start_alone(B))[0])[:, :4], whole[:, :4])


@torch.no_grad()
def test_the_rows_of_a_decoder_alone_may_be_opened_swapped_and_dropped():
    model, ids = small(**DECODER), words(4, T)
    plan = [[[0, 1], [2, 3]], [[1, 0], [3, 2]], [[3, 2]], [[1, 0]]]
    state = model.start_alone(2).select(torch.tensor([[0, 0], [1, 1]]))
    for t, rows in enumerate(plan):
        logits, state = model.step(ids[:, t], state)
        expected = model.logits(model.extend(ids[:, : t + 1], model.start_alone(len(ids)))[0])[:, -1]
        alike(logits, expected)
        state, ids = state.select(torch.tensor(rows)), ids[torch.tensor(rows).flatten()]
    assert len(state.src_valid) == 1


def test_a_decoder_that_looks_at_a_memory_is_not_run_without():
    model = small()
    with pytest.raises(AssertionError, match="needs a memory"):
        model.extend(words(B, T), model.start_alone(B))


def test_a_decoder_reads_vectors_of_another_width():
    model, valid = small(**FOREIGN), sources()[1]
    memory, tgt_in = torch.randn(B, S, 5).double(), words(B, T)
    logits = model.logits(model.decode(tgt_in, memory, valid))
    hidden_away = memory.masked_fill(~valid[..., None], 99.0)
    alike(model.logits(model.decode(tgt_in, hidden_away, valid)), logits, 1e-12)
    seen = memory.clone()
    seen[:, 0] += 1.0
    assert not torch.isclose(model.logits(model.decode(tgt_in, seen, valid))[..., 4:], logits[..., 4:]).all(-1).any()


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("relu", lambda x: x.clamp_min(0.0)),
        ("gelu", lambda x: x * 0.5 * (1.0 + torch.erf(x / 2**0.5))),
        ("gelu_tanh", lambda x: 0.5 * x * (1.0 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))),
        ("silu", lambda x: x / (1.0 + torch.exp(-x))),
    ],
)
def test_activations_are_their_formulas(name, formula):
    x = torch.linspace(-5.0, 5.0, 101, dtype=torch.float64)
    alike(ACTIVATIONS[name](x), formula(x), 1e-12)
    network = small(activation=name).encoder[0].feed_forward
    assert isinstance(network, FeedForward)
    alike(network(x[:D]), network.down(formula(network.up(x[:D]))), 1e-12)


def test_an_output_bias_is_added_to_each_logit():
    model, plain, inputs = small(output_bias=True), small(), (*sources(), words(B, T, seed=3))
    plain.load_state_dict({name: p for name, p in model.state_dict().items() if name != "output_bias"})
    assert model.output_bias.shape == (V,)
    alike(model(*inputs)[..., 4:], plain(*inputs)[..., 4:] + model.output_bias[4:])
    F.cross_entropy(model(*inputs).flatten(0, 1), words(B * T, seed=4)).backward()
    assert (model.output_bias.grad[4:] != 0).all()
    assert (model.output_bias.grad[[0, 2]] == 0).all()


def test_one_piece_may_be_padding_and_beginning():
    assert small(pad_id=7, bos_id=7).excluded_ids.tolist() == [7]
