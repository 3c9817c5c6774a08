"""Carry weights from Hugging Face's models into ours."""

import torch
from torch import Tensor, nn
from transformers import BertModel, GPT2Model
from transformers.models.llama.modeling_llama import LlamaAttention

from tests.parity.mapping import copy
from translator.attention.multihead import MultiHeadAttention
from translator.model.transformer import Transformer


@torch.no_grad()
def copy_bert(ours: Transformer, theirs: BertModel) -> None:
    """A token of segment k is piece V*k + id of ours: word and segment vectors are added in the one table."""
    embeddings = theirs.embeddings
    words, segments = embeddings.word_embeddings.weight, embeddings.token_type_embeddings.weight
    ours.src_embeddings.tokens.weight.copy_((words + segments[:, None]).flatten(0, 1))
    ours.src_embeddings.learned.weight.copy_(embeddings.position_embeddings.weight)
    copy(ours.src_embeddings.norm, embeddings.LayerNorm)
    for layer, their_layer in zip(ours.encoder, theirs.encoder.layer, strict=True):
        attention = their_layer.attention
        copy(layer.self_attn.q_proj, attention.self.query)
        copy(layer.self_attn.k_proj, attention.self.key)
        copy(layer.self_attn.v_proj, attention.self.value)
        copy(layer.self_attn.out_proj, attention.output.dense)
        copy(layer.self_residual.norm, attention.output.LayerNorm)
        copy(layer.feed_forward.up, their_layer.intermediate.dense)
        copy(layer.feed_forward.down, their_layer.output.dense)
        copy(layer.ff_residual.norm, their_layer.output.LayerNorm)


@torch.no_grad()
def copy_gpt2(ours: Transformer, theirs: GPT2Model) -> None:
    """Their linear layers hold the transposed matrix; one makes queries, keys and values."""
    ours.tgt_embeddings.tokens.weight.copy_(theirs.wte.weight)
    ours.tgt_embeddings.learned.weight.copy_(theirs.wpe.weight)
    copy(ours.decoder_norm, theirs.ln_f)
    for layer, block in zip(ours.decoder, theirs.h, strict=True):
        attention, joint = layer.self_attn, block.attn.c_attn
        for projection, weight, bias in zip(
            (attention.q_proj, attention.k_proj, attention.v_proj),
            joint.weight.chunk(3, dim=1),
            joint.bias.chunk(3),
            strict=True,
        ):
            _fill(projection, weight.T, bias)
        _fill(attention.out_proj, block.attn.c_proj.weight.T, block.attn.c_proj.bias)
        _fill(layer.feed_forward.up, block.mlp.c_fc.weight.T, block.mlp.c_fc.bias)
        _fill(layer.feed_forward.down, block.mlp.c_proj.weight.T, block.mlp.c_proj.bias)
        copy(layer.self_residual.norm, block.ln_1)
        copy(layer.ff_residual.norm, block.ln_2)


@torch.no_grad()
def copy_llama_attention(ours: MultiHeadAttention, theirs: LlamaAttention) -> None:
    """Both turn the pairs (i, i + Dh/2), so rows need no other order; where they have no biases, ours are 0."""
    for projection, their_projection in (
        (ours.q_proj, theirs.q_proj),
        (ours.k_proj, theirs.k_proj),
        (ours.v_proj, theirs.v_proj),
        (ours.out_proj, theirs.o_proj),
    ):
        _fill(projection, their_projection.weight, their_projection.bias)


def _fill(linear: nn.Linear, weight: Tensor, bias: Tensor | None) -> None:
    linear.weight.copy_(weight)
    linear.bias.copy_(torch.zeros_like(linear.bias) if bias is None else bias)
