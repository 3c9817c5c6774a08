"""What a model costs, from its configuration alone: parameters, multiply-adds, bytes of the cache.

Multiply-adds are those of matrix products; sums, softmax, norms and look-ups are not counted. Exact for the written-out
kernel and unpadded sentences of S source and T target tokens. Of attention, every product of a head takes Dh of them,
for the scores and for the sums of values alike, and H * Dh = D.
"""

from translator.attention.patterns import choose_pattern
from translator.model.config import ModelConfig, Site

BYTES = 4  # of a float32 number


def parameters(config: ModelConfig) -> int:
    """Numbers that are learned before any head is pruned; tied ones count once."""
    d, d_ff = config.d_model, config.d_ff
    feed_forward = 2 * d * d_ff + d_ff + d
    norm = 2 * d
    encoder = _projections(config, config.encoder_attention) + feed_forward + 2 * norm
    decoder = _projections(config, config.decoder_attention) + feed_forward + 2 * norm
    if config.cross:
        decoder += _projections(config, config.cross_attention, config.memory_dim) + norm
    stacks = config.has_source + config.has_target
    tables = 1 + (config.tie_embeddings != "all" and stacks == 2) + (config.tie_embeddings == "none")
    learned = stacks * config.max_positions * d if config.positions == "learned" else 0
    norms = stacks * norm * ((config.norm == "pre") + config.embedding_norm)
    bias = config.vocab_size * config.output_bias
    layers = config.n_encoder_layers * encoder + config.n_decoder_layers * decoder
    return layers + tables * config.vocab_size * d + learned + norms + bias


def source_multiply_adds(config: ModelConfig, source: int) -> int:
    """Reading a sentence of S tokens: the encoder, and the decoder's keys and values of its memory."""
    pattern = choose_pattern(causal_only=False, **config.encoder_attention.pattern())
    layer = source * (_matrices(config, config.encoder_attention) + 2 * config.d_model * config.d_ff)
    layer += config.d_model * pattern.products(source, source)
    width = config.memory_dim or config.d_model
    memory = source * 2 * width * _kv_width(config, config.cross_attention) * config.cross
    return config.n_encoder_layers * layer + config.n_decoder_layers * memory


def target_multiply_adds(config: ModelConfig, source: int, target: int, past: int = 0) -> int:
    """Reading T target tokens at once after ``past`` others, and the logits of what follows each of them.

    With T = 1 this is a step of a search, with ``past`` = 0 it is teacher forcing.
    """
    own = choose_pattern(causal_only=True, **config.decoder_attention.pattern())
    cross = choose_pattern(causal_only=False, **config.cross_attention.pattern())
    layer = target * (_matrices(config, config.decoder_attention) + 2 * config.d_model * config.d_ff)
    layer += config.d_model * own.products(target, _kept(config, past) + target)
    if config.cross:
        layer += target * 2 * config.d_model**2 + config.d_model * cross.products(target, source)  # q_proj and out_proj
    return config.n_decoder_layers * layer + target * config.d_model * config.vocab_size


def multiply_adds_per_token(config: ModelConfig, source: int, target: int) -> tuple[float, float]:
    """Means over S source and T target tokens, all read at once."""
    return source_multiply_adds(config, source) / source, target_multiply_adds(config, source, target) / target


def cache_bytes_per_token(config: ModelConfig, number: int = BYTES) -> tuple[int, int]:
    """What a source token and a target token add, in numbers of so many bytes; a source token once a sentence."""
    source = 2 * _kv_width(config, config.cross_attention) * config.cross
    target = 2 * _kv_width(config, config.decoder_attention)
    return config.n_decoder_layers * source * number, config.n_decoder_layers * target * number


def cache_bytes(config: ModelConfig, source: int, target: int, number: int = BYTES) -> int:
    """What is kept of a sentence of S tokens and one row of T target tokens; a window bounds the latter."""
    per_source, per_target = cache_bytes_per_token(config, number)
    return source * per_source + _kept(config, target) * per_target


def _kv_width(config: ModelConfig, site: Site) -> int:
    """G * Dh: keys of one token."""
    n_kv_heads = config.n_heads if site.n_kv_heads is None else site.n_kv_heads
    return n_kv_heads * (config.d_model // config.n_heads)


def _matrices(config: ModelConfig, site: Site, memory_dim: int | None = None) -> int:
    """Weights of the four projections, which is what a token takes of multiply-adds."""
    return 2 * config.d_model**2 + 2 * (memory_dim or config.d_model) * _kv_width(config, site)


def _projections(config: ModelConfig, site: Site, memory_dim: int | None = None) -> int:
    """Parameters of the four projections."""
    return _matrices(config, site, memory_dim) + 2 * config.d_model + 2 * _kv_width(config, site)


def _kept(config: ModelConfig, target: int) -> int:
    """Target tokens that are in the cache after so many."""
    keeps = choose_pattern(causal_only=True, **config.decoder_attention.pattern()).keeps
    return target if keeps is None else min(target, keeps)
