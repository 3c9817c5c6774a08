"""Our encoder and decoder are torch's layers, stacked."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.parity.mapping import close, copy_stacks, randomise
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

B, S, T, H, DH, WIDE, V = 3, 7, 5, 2, 11, 17, 53
D = H * DH
LATER = torch.ones(T, T, dtype=torch.bool).triu(1)


def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    src_valid = torch.arange(S) < torch.tensor([7, 2, 5])[:, None]
    return torch.randint(4, V, (B, S)), torch.randint(4, V, (B, T)), src_valid


def their_stacks(pre: bool) -> tuple[nn.TransformerEncoder, nn.TransformerDecoder]:
    options = {"dropout": 0.0, "activation": "relu", "batch_first": True, "norm_first": pre}
    norms = [nn.LayerNorm(D) if pre else None for _ in range(2)]
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D, H, WIDE, **options), 3, norm=norms[0], enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, H, WIDE, **options), 2, norm=norms[1])
    randomise(encoder, 1)
    randomise(decoder, 2)
    return encoder.double(), decoder.double()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("trains", [True, False])
def test_the_stacks_are_torchs(norm, trains):
    encoder, decoder = their_stacks(norm == "pre")
    config = ModelConfig(V, D, H, n_encoder_layers=3, n_decoder_layers=2, d_ff=WIDE, dropout=0.0, norm=norm)
    model = Transformer(config).double().train(trains)
    copy_stacks(model, encoder, decoder)

    src_ids, tgt_in, src_valid = batch()
    with torch.set_grad_enabled(trains):
        memory = model.encode(src_ids, src_valid)
        hidden = model.decode(tgt_in, memory, src_valid)
    expected_memory = encoder(model.src_embeddings(src_ids), src_key_padding_mask=~src_valid)
    expected = decoder(
        model.tgt_embeddings(tgt_in), expected_memory, tgt_mask=LATER, memory_key_padding_mask=~src_valid
    )
    close(memory, expected_memory)
    close(hidden, expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize(("activation", "theirs"), [("relu", F.relu), ("gelu", F.gelu), ("silu", F.silu)])
def test_the_whole_is_torchs_transformer(norm, activation, theirs):
    reference = nn.Transformer(
        D, H, 3, 2, WIDE, 0.0, theirs, layer_norm_eps=0.01, batch_first=True, norm_first=norm == "pre"
    ).double()  # fmt: skip
    randomise(reference, 4)
    sizes = {"n_encoder_layers": 3, "n_decoder_layers": 2, "d_ff": WIDE, "dropout": 0.0}
    model = Transformer(ModelConfig(V, D, H, norm=norm, activation=activation, norm_epsilon=0.01, **sizes)).double()
    if norm == "post":  # torch ends its stacks in a norm in any case
        model.encoder_norm, model.decoder_norm = (nn.LayerNorm(D, eps=0.01).double() for _ in range(2))
    copy_stacks(model, reference.encoder, reference.decoder)

    src_ids, tgt_in, src_valid = batch()
    found = model.decode(tgt_in, model.encode(src_ids, src_valid), src_valid)
    expected = reference(
        model.src_embeddings(src_ids), model.tgt_embeddings(tgt_in), tgt_mask=LATER,
        src_key_padding_mask=~src_valid, memory_key_padding_mask=~src_valid,
    )  # fmt: skip
    close(found, expected)
    state = model.start(src_ids, src_valid)
    for t in range(T):
        hidden, state = model.extend(tgt_in[:, t : t + 1], state)
        close(hidden, expected[:, t : t + 1])
