"""The description of a checkpoint counts everything once."""

import pytest

from translator.inspection.summary import AttentionSite, attention_sites, cache_size, describe, parameters_by_part
from translator.model.config import ModelConfig
from translator.model.costs import cache_bytes_per_token, multiply_adds_per_token
from translator.model.transformer import Transformer


def model(**changes: object) -> Transformer:
    sizes = {"d_model": 24, "n_heads": 6, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 31}
    return Transformer(ModelConfig.from_dict({"vocab_size": 53, **sizes, **changes}))


@pytest.mark.parametrize("tying", ["all", "decoder", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_parts_add_up_to_all_parameters(tying: str, positions: str) -> None:
    built = model(tie_embeddings=tying, positions=positions, max_positions=19)
    parts = parameters_by_part(built)
    assert sum(parts.values()) == sum(p.numel() for p in built.parameters())
    tables = {name: count for name, count in parts.items() if "embeddings" in name or "output" in name}
    assert list(tables.values()) == [53 * 24] * {"all": 1, "decoder": 2, "none": 3}[tying]
    assert parts.get("learned positions", 0) == (2 * 19 * 24 if positions == "learned" else 0)


def test_each_sublayer_is_counted_where_it_belongs() -> None:
    parts = parameters_by_part(model(cross_attention={"n_kv_heads": 1}))
    square, narrow = 24 * 24 + 24, 24 * 4 + 4
    assert parts["encoder self-attention"] == 2 * 4 * square
    assert parts["decoder self-attention"] == 3 * 4 * square
    assert parts["decoder cross-attention"] == 3 * (2 * square + 2 * narrow)
    assert parts["decoder feed-forward"] == 3 * (24 * 31 + 31 + 31 * 24 + 24)
    assert parts["encoder norms"] == (2 * 2 + 1) * 2 * 24
    assert parts["decoder norms"] == (3 * 3 + 1) * 2 * 24


def test_the_cache_grows_with_the_key_and_value_heads_alone() -> None:
    sites = attention_sites(model(decoder_attention={"n_kv_heads": 2, "window": 7}, cross_attention={"n_kv_heads": 3}))
    assert [site.kind.split()[0] for site in sites] == ["encoder"] * 2 + ["decoder"] * 6
    assert sites[2] == AttentionSite("decoder self-attention", 0, 6, 2, 4, 7)
    size = cache_size(sites)
    assert size.target_token == 3 * 2 * 2 * 4 * 4  # layers, keys and values, heads, head size, bytes
    assert size.source_token == 3 * 2 * 3 * 4 * 4
    assert size.window == 6  # the next token brings itself
    assert cache_size(attention_sites(model())).window is None


def test_the_description_tells_what_there_is() -> None:
    built = model(decoder_attention={"n_kv_heads": 2, "window": 7})
    config = {"source": "xx", "target": "yy", "model": built.config.to_dict(), "tokenizer": {"normalization": "nfc"}}
    scores = {"bleu": 12.345, "chrf": 44.0, "signature": {"bleu": "BLEU|nrefs:1", "chrf": "chrF2|nrefs:1"}}
    lines = describe(built, config, {"valid": scores, "seconds": 3.0, "best": {"bleu": 12.0, "update": 3}})
    total = sum(p.numel() for p in built.parameters())
    assert lines[0] == f"xx to yy, {total:,} parameters"
    joined = "\n".join(lines)
    for told in ("d_model", "decoder self-attention   layers 0 to 2", "2 for keys and values", "window 7"):
        assert told in joined
    assert any(line.split() == ["valid", "bleu", "12.35", "BLEU|nrefs:1"] for line in lines)
    assert "the last 6 tokens are kept" in joined
    assert lines == [line.rstrip() for line in lines]


def test_a_checkpoint_without_scores_says_so() -> None:
    built = model()
    config = {"source": "xx", "target": "yy", "model": built.config.to_dict(), "tokenizer": {}}
    assert describe(built, config, {})[-1].strip().startswith("none")


def test_patterns_and_the_work_they_save_are_told() -> None:
    built = model(encoder_attention={"stride": 5}, decoder_attention={"top_k": 7}, cross_attention={"top_k": 2})
    joined = "\n".join(describe(built, {"source": "xx", "target": "yy", "model": {}, "tokenizer": {}}, {}))
    for told in ("stride 5", "top 7", "top 2", "multiply-adds a token", "sentences of 1024"):
        assert told in joined
    source, target = multiply_adds_per_token(built.config, 1024, 1024)
    assert f"{source:,.0f}" in joined
    assert f"{target:,.0f}" in joined


def test_the_cache_that_is_told_is_the_one_that_is_worked_out() -> None:
    built = model(decoder_attention={"n_kv_heads": 2, "window": 7}, cross_attention={"n_kv_heads": 3})
    size = cache_size(attention_sites(built))
    assert (size.source_token, size.target_token) == cache_bytes_per_token(built.config)
