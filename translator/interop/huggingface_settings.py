"""The JSON files of a Hugging Face folder: the class and its sizes, how to search, how to tokenize."""

from typing import Any

from translator.bundle import Bundle
from translator.inference.options import TranslateOptions
from translator.interop.record import KEY, remembered, vocabulary
from translator.model.config import ModelConfig

#: The longest output of `generate`, which cannot make its limit depend on the source.
LONGEST_OUTPUT = 512


def model_settings(bundle: Bundle, positions: int) -> dict[str, Any]:
    """config.json of a model with so many rows of positions.

    Marian is the class of post-norm models. Of the pre-norm classes, Pegasus alone has our parts and no others: a
    final norm in both stacks, no norm after the embeddings (as mBART has), and positions that begin with row 0 of a
    table in the file (M2M-100 makes its own, with other frequencies, from the row after the padding id).
    """
    config, tying = bundle.model.config, bundle.model.config.tie_embeddings
    chosen: dict[str, Any] = {
        "architectures": ["PegasusForConditionalGeneration"],
        "model_type": "pegasus",
        "tie_word_embeddings": tying == "all",  # one switch for all embeddings or none
    }
    if config.norm == "post":
        chosen = {
            "architectures": ["MarianMTModel"],
            "model_type": "marian",
            "tie_word_embeddings": tying != "none",
            "share_encoder_decoder_embeddings": tying == "all",
            "decoder_vocab_size": config.vocab_size,
        }
    sizes = {
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "encoder_layers": config.n_encoder_layers,
        "decoder_layers": config.n_decoder_layers,
        **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), config.n_heads),
        **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), config.d_ff),
        "max_position_embeddings": positions,
        "activation_function": "relu",
        "scale_embedding": True,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "is_encoder_decoder": True,
        "dtype": "float32",
    }
    return chosen | sizes | _ids(config) | {KEY: remembered(bundle.config)}


def _ids(config: ModelConfig) -> dict[str, Any]:
    return {
        "pad_token_id": config.pad_id,
        "bos_token_id": config.bos_id,
        "eos_token_id": config.eos_id,
        "decoder_start_token_id": config.bos_id,
        "forced_eos_token_id": None,  # both classes would else end a sentence that is cut with an end it never chose
    }


def generation_settings(config: ModelConfig, positions: int) -> dict[str, Any]:
    """generation_config.json: our search.

    Scores are sum log p / length ** A with the end of sentence counted, as ours. By default `generate` stops when no
    live candidate beats the worst complete one at its present length; ``early_stopping="never"`` is our rule, but as
    it reckons with the longest output, sentences then run on to ``max_length``.
    """
    options = TranslateOptions()
    return _ids(config) | {
        "num_beams": options.beam_size,
        "length_penalty": options.length_penalty,
        "early_stopping": False,
        "max_length": min(LONGEST_OUTPUT, positions),
        "suppress_tokens": [config.unk_id],
    }


def tokenizer_settings(bundle: Bundle) -> tuple[dict[str, Any], dict[str, int]]:
    """tokenizer_config.json, and vocab.json from pieces to ids.

    The class is Marian's for both models: it runs the SentencePiece model itself and adds the end of sentence. It knows
    nothing of our normalisation, so text must be brought into the form that config.json names (most text is).
    """
    config, pieces = bundle.model.config, vocabulary(bundle.tokenizer)
    settings = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": bundle.config["source"],
        "target_lang": bundle.config["target"],
        "unk_token": pieces[config.unk_id],
        "eos_token": pieces[config.eos_id],
        "pad_token": pieces[config.pad_id],
        "model_max_length": LONGEST_OUTPUT,
    }
    return settings, {piece: index for index, piece in enumerate(pieces)}
