"""Models and batches of a few numbers, for tests of the model's mathematics."""

import torch
from torch import Tensor

from translator.model.config import ModelConfig, Site
from translator.model.transformer import Transformer

V, H, DH, F = 53, 6, 2, 17
D = H * DH
SOURCES = (7, 2, 5)  # lengths of a ragged batch
B, S, T = len(SOURCES), max(SOURCES), 7

SHARING = {"MHA": None, "GQA": 2, "MQA": 1}
POSITIONS = ["sinusoidal", "learned", "rotary"]


def config(**changes) -> ModelConfig:
    sizes = {"d_model": D, "n_heads": H, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": F, "dropout": 0.0}
    return ModelConfig(V, **(sizes | changes))


def sites(sharing: str, window: int | None) -> dict[str, Site]:
    """Every attention shares its heads; only self-attention has a window."""
    n_kv_heads = SHARING[sharing]
    return {
        "encoder_attention": Site(n_kv_heads, window),
        "decoder_attention": Site(n_kv_heads, window),
        "cross_attention": Site(n_kv_heads),
    }


def small(seed: int = 1, **changes) -> Transformer:
    """In float64, with every parameter off its starting value: zero biases would hide a slip."""
    torch.manual_seed(seed)
    model = Transformer(config(**changes)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def words(*shape: int, seed: int = 2) -> Tensor:
    """Random ids, none of them special."""
    return torch.randint(4, V, shape, generator=torch.Generator().manual_seed(seed))


def sources() -> tuple[Tensor, Tensor]:
    """A ragged batch (B, S) and its validity."""
    valid = torch.arange(S) < torch.tensor(SOURCES)[:, None]
    return words(B, S).masked_fill(~valid, 0), valid


def alike(found: Tensor, expected: Tensor, atol: float = 1e-10) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=atol)
