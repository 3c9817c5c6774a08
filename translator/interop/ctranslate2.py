"""Models for CTranslate2, a fast C++ runtime: https://opennmt.net/CTranslate2

    translator = ctranslate2.Translator("FOLDER")
    pieces = sentencepiece.SentencePieceProcessor("FOLDER/tokenizer.model").encode(text, out_type=str)
    translator.translate_batch([pieces], beam_size=5, length_penalty=1, min_decoding_length=0, disable_unk=True)

gives our translations with our scores, sum log p / length ** length_penalty: CTranslate2 counts the end of sentence in
the length, as we do, whether it returns it or not. What one has to know besides:

- By default the first piece must not be the end of sentence. Its probability is shared out then, which changes all
  scores; hence ``min_decoding_length=0``.
- ``disable_unk=True`` keeps the unknown piece out, as our search does, but before probabilities are computed: what the
  model gave to it is shared out. A trained model gives it next to nothing.
- It stops when ``beam_size`` candidates are complete; our search goes on while a better one is possible. With
  ``patience=40`` it goes on, too: of 24 sentences of a trained model one needed that.
- Outputs end at ``max_decoding_length=256`` pieces unless told otherwise, ours in proportion to the source.
- Text is brought into the normal form that config.json names under translator.tokenizer before it is cut into pieces.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from translator.attention.multihead import CrossAttention, MultiHeadAttention
from translator.bundle import TOKENIZER, Bundle
from translator.errors import UserError, one_of
from translator.files import new_folder
from translator.interop.dense import dense, position_table
from translator.interop.record import KEY, remembered, vocabulary
from translator.model.embeddings import Embeddings
from translator.model.layers import DecoderLayer, EncoderLayer

QUANTIZATIONS = ("int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32")
#: Added to the logits of pieces that must never come out. exp of it is 0 in every format, and all of them can hold it.
NEVER = -1e4


def library() -> Any:
    """The package ``ctranslate2``. Raises UserError where it is not installed."""
    try:
        import ctranslate2
    except ImportError as error:
        raise UserError(
            "CTranslate2 is not installed: pip install ctranslate2, or this project with its extra, translator[export]"
        ) from error
    return ctranslate2


def export_ctranslate2(bundle: Bundle, directory: Path, quantization: str | None = None) -> None:
    """Write ``bundle`` as a CTranslate2 model folder, with its tokenizer beside it.

    Raises UserError where the library is missing, the folder exists, or the model or quantization is none it knows.
    """
    if quantization is not None:
        one_of("quantization", quantization, QUANTIZATIONS)
    bundle = replace(bundle, model=dense(bundle.model, "CTranslate2"))
    specification = specify(bundle)
    with torch.no_grad():
        specification.validate()
        specification.optimize(quantization=quantization)
    with new_folder(directory) as folder:
        specification.save(str(folder))
        bundle.tokenizer.save(folder / TOKENIZER)


@torch.no_grad()
def specify(bundle: Bundle) -> Any:
    """The model as CTranslate2's converters describe one: a ``TransformerSpec`` with all weights in place."""
    model, config = bundle.model, bundle.model.config
    layers = (config.n_encoder_layers, config.n_decoder_layers)
    specification = library().specs.TransformerSpec.from_config(layers, config.n_heads, pre_norm=config.norm == "pre")
    encoder, decoder = specification.encoder, specification.decoder
    _fill_stack(encoder, encoder.embeddings[0], model.src_embeddings, model.encoder, model.encoder_norm)
    _fill_stack(decoder, decoder.embeddings, model.tgt_embeddings, model.decoder, model.decoder_norm)
    decoder.projection.weight = model.output.weight.detach().clone()
    bias = torch.zeros(config.vocab_size)
    decoder.projection.bias = bias.index_fill(0, model.excluded_ids.cpu(), NEVER)
    pieces = vocabulary(bundle.tokenizer)
    specification.register_source_vocabulary(pieces)
    specification.register_target_vocabulary(pieces)
    settings = specification.config
    settings.unk_token, settings.bos_token = pieces[config.unk_id], pieces[config.bos_id]
    settings.eos_token, settings.decoder_start_token = pieces[config.eos_id], pieces[config.bos_id]
    settings.add_source_bos, settings.add_source_eos = False, True
    settings.layer_norm_epsilon = config.norm_epsilon
    settings.add_attribute(KEY, remembered(bundle.config))
    return specification


def _fill_stack(theirs: Any, tokens: Any, embeddings: Embeddings, layers: nn.ModuleList, norm: nn.Module) -> None:
    """The encoder or the decoder, with its embeddings and the norm after its last layer, if it has one."""
    # A copy, as those that `_fill_linear` makes: the library rounds weights where they lie.
    tokens.weight = embeddings.tokens.weight.detach().clone()
    theirs.scale_embeddings = embeddings.scale
    theirs.position_encodings.encodings = position_table(embeddings)
    if isinstance(norm, nn.LayerNorm):
        _fill_norm(theirs.layer_norm, norm)
    for their_layer, layer in zip(theirs.layer, layers, strict=True):
        assert isinstance(layer, EncoderLayer | DecoderLayer)
        _fill_attention(their_layer.self_attention, layer.self_attn, layer.self_residual.norm)
        if isinstance(layer, DecoderLayer):
            _fill_attention(their_layer.attention, layer.cross_attn, layer.cross_residual.norm)
        _fill_linear(their_layer.ffn.linear_0, layer.feed_forward.up)
        _fill_linear(their_layer.ffn.linear_1, layer.feed_forward.down)
        _fill_norm(their_layer.ffn.layer_norm, layer.ff_residual.norm)


def _fill_attention(theirs: Any, ours: MultiHeadAttention, norm: nn.LayerNorm) -> None:
    """One product makes all that comes from one input: in cross-attention the queries have their own."""
    query, key_value = [ours.q_proj], [ours.k_proj, ours.v_proj]
    first = [query, key_value] if isinstance(ours, CrossAttention) else [query + key_value]
    for product, projections in zip(theirs.linear, [*first, [ours.out_proj]], strict=True):
        _fill_linear(product, *projections)
    _fill_norm(theirs.layer_norm, norm)


def _fill_linear(theirs: Any, *ours: nn.Linear) -> None:
    """Several projections of the same input, one below the other."""
    weights: list[Tensor] = [linear.weight.detach() for linear in ours]
    theirs.weight, theirs.bias = torch.cat(weights), torch.cat([linear.bias.detach() for linear in ours])


def _fill_norm(theirs: Any, ours: nn.LayerNorm) -> None:
    theirs.gamma, theirs.beta = ours.weight.detach(), ours.bias.detach()
