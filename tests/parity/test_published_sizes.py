"""Our classes at the dimensions of published models have their numbers of parameters. Nothing is allocated."""

import torch

from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

BERT = {"n_decoder_layers": 0, "norm": "post", "positions": "learned", "max_positions": 512, "embedding_norm": True}
GPT = {"n_encoder_layers": 0, "cross": False, "norm": "pre", "positions": "learned"}


def parameters(vocab_size: int, **sizes) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in Transformer(ModelConfig(vocab_size, **sizes)).parameters())


def bert(d_model: int, n_layers: int) -> int:
    """Our encoder with the two segment vectors and the pooler, a square matrix with biases, which it has not.

    Devlin 2019 (1810.04805, 3) rounds to 110M and 340M; the released models, with pooler, have 109,482,240 and
    335,141,888.
    """
    stack = parameters(
        30_522, d_model=d_model, n_heads=d_model // 64, d_ff=4 * d_model, n_encoder_layers=n_layers, **BERT
    )
    return stack + 2 * d_model + d_model * d_model + d_model


def gpt(d_model: int, n_layers: int, n_heads: int, length: int) -> int:
    return parameters(
        50_257, d_model=d_model, n_heads=n_heads, d_ff=4 * d_model, n_decoder_layers=n_layers, max_positions=length,
        **GPT,
    )  # fmt: skip


def test_bert():
    assert bert(768, 12) == 109_482_240
    assert bert(1024, 24) == 335_141_888


def test_gpt2():
    """Radford 2019, table 2, with the corrected figure of the release, 124M."""
    assert gpt(768, 12, 12, 1024) == 124_439_808


def test_gpt3():
    """Brown 2020 (2005.14165): dimensions in table 2.1, 174,600M parameters in table D.1, 175B in the text."""
    exact = gpt(12_288, 96, 96, 2048)
    assert exact == 174_604_259_328  # 12 d^2 + 13 d a layer, embeddings, positions and the final norm
    assert round(exact / 1e8) * 100 == 174_600
    assert gpt(768, 12, 12, 2048) // 10**6 == 125
