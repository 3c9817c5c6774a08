"""The names that Hugging Face's encoder-decoder classes, Marian's and those after it, give the parts of a layer."""

#: Our part of a layer -> theirs.
LAYER_PARTS = {
    "self_attn": "self_attn",
    "cross_attn": "encoder_attn",
    "feed_forward.up": "fc1",
    "feed_forward.down": "fc2",
    "self_residual.norm": "self_attn_layer_norm",
    "cross_residual.norm": "encoder_attn_layer_norm",
    "ff_residual.norm": "final_layer_norm",
}
