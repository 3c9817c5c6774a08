"""Names alone: what fits is carried over, what does not is told. That the models agree: tests/parity."""

import pytest
import torch
from torch import Tensor

from translator.errors import UserError
from translator.interop.marian import marian_to_ours, ours_to_marian
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

V, D, P = 53, 33, 13


def config(**changes) -> ModelConfig:
    sizes = {"d_model": D, "n_heads": 3, "n_encoder_layers": 2, "n_decoder_layers": 1, "d_ff": 17, "max_positions": P}
    options = {"norm": "post", "positions": "sinusoidal_halves", "output_bias": True}
    return ModelConfig(V, **(sizes | options | changes))


def weights(of: ModelConfig) -> dict[str, Tensor]:
    torch.manual_seed(1)
    return {name: torch.randn_like(parameter) for name, parameter in Transformer(of).named_parameters()}


def same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("tying", ["all", "decoder", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal_halves", "learned"])
@pytest.mark.parametrize("bias", [True, False])
def test_there_and_back(tying, positions, bias):
    ours = config(tie_embeddings=tying, positions=positions, output_bias=bias)
    same(marian_to_ours(ours_to_marian(weights(ours), ours), ours), weights(ours))


@pytest.mark.parametrize("kept", ["model.shared.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"])
def test_tied_tensors_may_stand_once_as_in_a_file(kept):
    ours = config()
    theirs = ours_to_marian(weights(ours), ours)
    tied = ["model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"]
    tied += ["lm_head.weight"]
    once = {name: tensor for name, tensor in theirs.items() if name not in tied or name == kept}
    assert len(once) == len(theirs) - 3
    same(marian_to_ours({n: t for n, t in once.items() if "embed_positions" not in n}, ours), weights(ours))


def test_a_file_without_the_bias_has_zeros():
    ours = config()
    theirs = ours_to_marian(weights(ours), ours)
    del theirs["final_logits_bias"]
    assert torch.equal(marian_to_ours(theirs, ours)["output_bias"], torch.zeros(V))


def refused(message: str, theirs: dict[str, Tensor], ours: ModelConfig) -> None:
    with pytest.raises(UserError, match=message) as caught:
        marian_to_ours(theirs, ours)
    assert "\n" not in str(caught.value)


def test_what_does_not_fit_is_named():
    ours = config()
    theirs = ours_to_marian(weights(ours), ours)
    name = "model.encoder.layers.1.fc1.weight"
    refused("layers.1.fc1.weight is missing", {n: t for n, t in theirs.items() if n != name}, ours)
    refused(r"layers.1.fc1.weight has shape \(2, 3\)", theirs | {name: torch.zeros(2, 3)}, ours)
    refused("layers.2.fc1.weight is left over", theirs | {"model.encoder.layers.2.fc1.weight": theirs[name]}, ours)
    refused("model.shared.weight and lm_head.weight differ", theirs | {"lm_head.weight": torch.ones(V, D)}, ours)
    refused("final_logits_bias is left over", theirs, config(output_bias=False))
    with pytest.raises(UserError, match="tensor output_bias is missing"):
        ours_to_marian({n: t for n, t in weights(ours).items() if n != "output_bias"}, ours)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("no model with norm pre", {"norm": "pre"}),
        ("no model with positions sinusoidal", {"positions": "sinusoidal"}),
        ("no model with embedding_norm True", {"embedding_norm": True}),
        ("it has no decoder", {"n_decoder_layers": 0}),
        (r"no model with cross_attention Site\(n_kv_heads=1", {"cross_attention": {"n_kv_heads": 1}}),
        (r"no model with decoder_attention Site\(.*window=3", {"decoder_attention": {"window": 3}}),
    ],
)
def test_another_kind_of_model_is_none_of_marians(message, changes):
    refused(message, {}, ModelConfig.from_dict(config().to_dict() | changes))
