"""Carry weights from torch's modules into ours."""

import torch
from torch import Tensor, nn

from translator.attention.multihead import MultiHeadAttention
from translator.model.layers import DecoderLayer, EncoderLayer, FeedForward
from translator.model.transformer import Transformer


def randomise(module: nn.Module, seed: int) -> None:
    """Every parameter from N(0, 0.3); torch starts biases at zero and norms at one, which would hide a slip."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))


def copy(ours: nn.Module, theirs: nn.Module) -> None:
    """Linear layers and norms have the same names on both sides."""
    ours.load_state_dict(theirs.state_dict())


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    separate = (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight)
    weights = separate if theirs.in_proj_weight is None else theirs.in_proj_weight.chunk(3)
    for projection, weight, bias in zip(
        (ours.q_proj, ours.k_proj, ours.v_proj), weights, theirs.in_proj_bias.chunk(3), strict=True
    ):
        projection.load_state_dict({"weight": weight, "bias": bias})
    copy(ours.out_proj, theirs.out_proj)


@torch.no_grad()
def give_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """The other way."""
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    if theirs.in_proj_weight is None:
        for weight, projection in zip(
            (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight), projections, strict=True
        ):
            weight.copy_(projection.weight)
    else:
        theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    copy(theirs.out_proj, ours.out_proj)


def copy_feed_forward(ours: FeedForward, theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> None:
    copy(ours.up, theirs.linear1)
    copy(ours.down, theirs.linear2)


def copy_encoder_layer(ours: EncoderLayer, theirs: nn.TransformerEncoderLayer) -> None:
    copy_attention(ours.self_attn, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy(ours.self_residual.norm, theirs.norm1)
    copy(ours.ff_residual.norm, theirs.norm2)


def copy_decoder_layer(ours: DecoderLayer, theirs: nn.TransformerDecoderLayer) -> None:
    copy_attention(ours.self_attn, theirs.self_attn)
    copy_attention(ours.cross_attn, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy(ours.self_residual.norm, theirs.norm1)
    copy(ours.cross_residual.norm, theirs.norm2)
    copy(ours.ff_residual.norm, theirs.norm3)


def copy_stacks(ours: Transformer, encoder: nn.TransformerEncoder, decoder: nn.TransformerDecoder) -> None:
    for our_layer, their_layer in zip(ours.encoder, encoder.layers, strict=True):
        copy_encoder_layer(our_layer, their_layer)
    for our_layer, their_layer in zip(ours.decoder, decoder.layers, strict=True):
        copy_decoder_layer(our_layer, their_layer)
    if encoder.norm is not None:
        copy(ours.encoder_norm, encoder.norm)
        copy(ours.decoder_norm, decoder.norm)


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)
