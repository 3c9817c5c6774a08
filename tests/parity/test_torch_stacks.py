"""Our encoder and decoder are torch's layers, stacked."""

import pytest
import torch
from torch import nn

from tests.parity.mapping import close, copy_stacks, randomise
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

B, S, T, H, DH, F, V = 3, 7, 5, 2, 11, 17, 53
D = H * DH


def their_stacks(pre: bool) -> tuple[nn.TransformerEncoder, nn.TransformerDecoder]:
    options = {"dropout": 0.0, "activation": "relu", "batch_first": True, "norm_first": pre}
    norms = [nn.LayerNorm(D) if pre else None for _ in range(2)]
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D, H, F, **options), 3, norm=norms[0], enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, H, F, **options), 2, norm=norms[1])
    randomise(encoder, 1)
    randomise(decoder, 2)
    return encoder.double(), decoder.double()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("trains", [True, False])
def test_the_stacks_are_torchs(norm, trains):
    encoder, decoder = their_stacks(norm == "pre")
    config = ModelConfig(V, D, H, n_encoder_layers=3, n_decoder_layers=2, d_ff=F, dropout=0.0, norm=norm)
    model = Transformer(config).double().train(trains)
    copy_stacks(model, encoder, decoder)

    torch.manual_seed(3)
    src_ids, tgt_in = torch.randint(4, V, (B, S)), torch.randint(4, V, (B, T))
    src_valid = torch.arange(S) < torch.tensor([7, 2, 5])[:, None]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    with torch.set_grad_enabled(trains):
        memory = model.encode(src_ids, src_valid)
        hidden = model.decode(tgt_in, memory, src_valid)
    expected_memory = encoder(model.src_embeddings(src_ids), src_key_padding_mask=~src_valid)
    expected = decoder(
        model.tgt_embeddings(tgt_in), expected_memory, tgt_mask=later, memory_key_padding_mask=~src_valid
    )
    close(memory, expected_memory)
    close(hidden, expected)
