import json
from dataclasses import FrozenInstanceError

import pytest

from translator.errors import UserError
from translator.model.config import ModelConfig, Site


def test_a_config_goes_through_json_and_back():
    config = ModelConfig(
        97,
        d_model=30,
        n_heads=6,
        norm="post",
        positions="learned",
        tie_embeddings="decoder",
        encoder_attention=Site(3, 5),
        decoder_attention=Site(n_kv_heads=2),
        cross_attention=Site(1),
        pad_id=11,
    )
    again = ModelConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert again != ModelConfig(97)
    assert isinstance(again.encoder_attention, Site)


def test_what_is_left_out_has_its_default():
    assert ModelConfig.from_dict({"vocab_size": 97}) == ModelConfig(97)
    assert ModelConfig.from_dict({"vocab_size": 97, "cross_attention": {}}).cross_attention == Site(None, None)


def test_the_values_that_come_in_are_not_changed():
    values = {"vocab_size": 97, "encoder_attention": {"window": 3}}
    ModelConfig.from_dict(values)
    assert values == {"vocab_size": 97, "encoder_attention": {"window": 3}}


def test_a_config_stays_as_it_is():
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'd_model'"):
        ModelConfig(97).d_model = 13


def refused(message: str, **changes) -> None:
    with pytest.raises(UserError, match=f"^{message}") as caught:
        ModelConfig.from_dict({"vocab_size": 97} | changes)
    assert "\n" not in str(caught.value)


def test_an_unknown_key_is_named_with_the_nearest_known_one():
    refused("model: unknown key 'd_modle'; did you mean 'd_model'", d_modle=13)
    refused("decoder_attention: unknown key 'windows'; did you mean 'window'", decoder_attention={"windows": 3})
    refused("cross_attention: unknown key 'xyz'; known: n_kv_heads, window", cross_attention={"xyz": 3})


def test_a_missing_key_is_named():
    with pytest.raises(UserError, match=r"model: .*'vocab_size'"):
        ModelConfig.from_dict({})


def test_what_was_written_before_there_were_more_settings_still_loads():
    values = {
        "vocab_size": 97, "d_model": 30, "n_heads": 6, "n_encoder_layers": 2, "n_decoder_layers": 1, "d_ff": 11,
        "dropout": 0.3, "attention_dropout": 0.0, "activation_dropout": 0.0, "norm": "pre", "positions": "sinusoidal",
        "tie_embeddings": "all", "max_positions": 1024, "encoder_attention": {"n_kv_heads": None, "window": None},
        "decoder_attention": {"n_kv_heads": None, "window": None}, "pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3,
        "cross_attention": {"n_kv_heads": None, "window": None},
    }  # fmt: skip
    config = ModelConfig.from_dict(values)
    new = {"activation": "relu", "norm_epsilon": 1e-5, "embedding_norm": False, "embedding_scale": True}
    new |= {"output_bias": False, "cross": True, "memory_dim": None}
    assert config == ModelConfig.from_dict(values | new)
    assert config.to_dict().items() >= new.items()


SIZES = ["vocab_size", "d_model", "n_heads", "d_ff", "max_positions"]


def bound(value, least: int) -> str:
    """What is said of a number that is too small, and of what is no number."""
    return f"must be at least {least}, not {value}" if type(value) is int else f"must be a whole number, not {value!r}"


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("value", [0, -3, 2.5, "8", None])
def test_sizes_are_whole_and_positive(name, value):
    refused(f"model: {name} {bound(value, 1)}", **{name: value})


@pytest.mark.parametrize("name", ["n_encoder_layers", "n_decoder_layers"])
@pytest.mark.parametrize("value", [-1, 2.5, "8", None, True])
def test_depths_are_whole_and_may_be_nothing(name, value):
    assert getattr(ModelConfig(97, **{name: 0}), name) == 0
    refused(f"model: {name} {bound(value, 0)}", **{name: value})


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("n_encoder_layers and n_decoder_layers are both 0", {"n_encoder_layers": 0, "n_decoder_layers": 0}),
        ("with cross false nothing reads the encoder", {"cross": False}),
        ("memory_dim is the width of a memory from elsewhere", {"memory_dim": 5}),
        ("memory_dim is the width of a memory", {"memory_dim": 5, "n_encoder_layers": 0, "cross": False}),
        ("memory_dim must be at least 1, not 0", {"memory_dim": 0, "n_encoder_layers": 0}),
    ],
)
def test_stacks_fit_each_other(message, changes):
    refused(f"model: {message}", **changes)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("it has no decoder", {"n_decoder_layers": 0}),
        ("it has no source to look at", {"n_encoder_layers": 0, "cross": False}),
        ("it has no source to look at", {"n_encoder_layers": 0, "memory_dim": 5}),
    ],
)
def test_what_cannot_translate_says_what_it_lacks(message, changes):
    ModelConfig(97, n_encoder_layers=0).check_translates()
    with pytest.raises(UserError, match=message):
        ModelConfig(97, **changes).check_translates()


@pytest.mark.parametrize("name", ["embedding_norm", "embedding_scale", "output_bias", "cross"])
@pytest.mark.parametrize("value", [0, "yes", None])
def test_a_switch_is_on_or_off(name, value):
    refused(f"model: {name} must be true or false, not {value!r}", **{name: value})


@pytest.mark.parametrize("value", [0.0, -1e-5, 1.0, True, "1e-5", None, float("nan")])
def test_the_epsilon_of_norms_is_a_small_number(value):
    refused(f"model: norm_epsilon must be a number above 0 and below 1, not {value!r}", norm_epsilon=value)


@pytest.mark.parametrize("name", ["dropout", "attention_dropout", "activation_dropout"])
@pytest.mark.parametrize("value", [-0.1, 1.0, 7])
def test_dropout_is_a_probability_below_one(name, value):
    refused(f"model: {name} must be at least 0 and below 1, not {value}", **{name: value})


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("norm", "pre, post"),
        ("positions", "sinusoidal, sinusoidal_halves, learned, rotary, none"),
        ("tie_embeddings", "all, decoder, none"),
        ("activation", "relu, gelu, gelu_tanh, silu"),
    ],
)
def test_a_choice_is_one_of_those_known(name, known):
    refused(f"model: {name} must be one of {known}, not 'both'", **{name: "both"})


def test_heads_fit_the_width_and_each_other():
    refused(r"model: d_model \(30\) must be a multiple of n_heads \(7\)", d_model=30, n_heads=7)
    for site in ("encoder_attention", "decoder_attention", "cross_attention"):
        for n in (4, 12):
            message = rf"{site}: n_heads \(6\) must be a multiple of n_kv_heads \({n}\)"
            refused(message, d_model=30, n_heads=6, **{site: {"n_kv_heads": n}})


def test_a_window_belongs_to_self_attention():
    refused("cross_attention: a window has no meaning between two sentences", cross_attention={"window": 3})


def test_a_stride_belongs_to_self_attention():
    refused("cross_attention: a stride has no meaning between two sentences", cross_attention={"stride": 3})


@pytest.mark.parametrize("site", ["encoder_attention", "decoder_attention", "cross_attention"])
@pytest.mark.parametrize("value", [0, -3, "2", 2.5, True])
def test_strides_and_numbers_of_keys_are_whole_and_positive(site, value):
    refused(f"{site}: stride {bound(value, 1)}", **{site: {"stride": value}})
    refused(f"{site}: top_k {bound(value, 1)}", **{site: {"top_k": value}})


def test_a_place_has_one_pattern():
    refused("encoder_attention: window and top_k exclude each other", encoder_attention={"window": 3, "top_k": 2})
    refused("decoder_attention: window and stride exclude each other", decoder_attention={"window": 3, "stride": 2})


def test_a_config_of_before_the_patterns_is_read():
    older = {"vocab_size": 97, "encoder_attention": {"n_kv_heads": 2, "window": 3}}
    assert ModelConfig.from_dict(older).encoder_attention == Site(2, 3, None, None)


def test_rotary_positions_need_an_even_head_size():
    refused("model: rotary positions need an even head size, not 5", d_model=30, n_heads=6, positions="rotary")


@pytest.mark.parametrize("value", [3, "wide", [3, 5], None])
def test_an_attention_is_given_by_its_keys(value):
    refused("encoder_attention: must be a mapping, not", encoder_attention=value)


@pytest.mark.parametrize("site", ["encoder_attention", "decoder_attention", "cross_attention"])
@pytest.mark.parametrize("value", [0, -3, "2", 2.5, True])
def test_shared_heads_and_windows_are_whole_and_positive(site, value):
    refused(f"{site}: n_kv_heads {bound(value, 1)}", **{site: {"n_kv_heads": value}})
    refused(f"{site}: window {bound(value, 1)}", **{site: {"window": value}})


@pytest.mark.parametrize("name", ["pad_id", "unk_id", "bos_id", "eos_id"])
@pytest.mark.parametrize("value", [-1, 97, "0", None])
def test_special_ids_are_rows_of_the_vocabulary(name, value):
    refused(f"model: {name} must be a whole number from 0 to 96, not {value!r}", **{name: value})
