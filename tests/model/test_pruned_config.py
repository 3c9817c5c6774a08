import json

import pytest

from translator.errors import UserError
from translator.model.config import ModelConfig

SIZES = {"vocab_size": 97, "d_model": 12, "n_heads": 6, "n_encoder_layers": 1, "n_decoder_layers": 2}


def test_pruned_heads_travel_with_the_config():
    config = ModelConfig(**SIZES).without_heads({"cross.1": {5, 0}, "encoder.0": [2]}).without_heads({"cross.1": (3,)})
    assert config.pruned_heads == {"cross.1": [0, 3, 5], "encoder.0": [2]}
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_whole_model_is_told_as_it_was_before_heads_could_be_pruned():
    config = ModelConfig(**SIZES)
    assert "pruned_heads" not in config.to_dict()
    assert config.without_heads({"encoder.0": []}) == config


@pytest.mark.parametrize("site", ["encoder.1", "decoder.2", "cross.2", "cross.-1", "cross.01", "cross", "x.0", ".0", 3])
def test_a_site_must_be_there(site):
    with pytest.raises(
        UserError, match=r"pruned_heads: there is no attention .*; there are encoder.0 to encoder.0, dec"
    ):
        ModelConfig.from_dict({**SIZES, "pruned_heads": {site: [0]}})


@pytest.mark.parametrize("heads", [[6], [-1], [1, 1], [2, 1], ["0"], [True], 3, None])
def test_heads_must_be_numbers_in_order(heads):
    with pytest.raises(UserError, match=r"pruned_heads: cross.0 must hold different whole numbers from 0 to 5"):
        ModelConfig.from_dict({**SIZES, "pruned_heads": {"cross.0": heads}})


def test_pruned_heads_are_a_mapping():
    with pytest.raises(UserError, match="pruned_heads: must be a mapping, not"):
        ModelConfig.from_dict({**SIZES, "pruned_heads": [3]})
