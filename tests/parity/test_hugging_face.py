"""Our blocks are BERT's, GPT-2's, Marian's and Llama's: random models of odd sizes, their weights in our modules.

Compared within 1e-5 in float32 and 1e-10 in float64, with padding and without, at once and with both caches.
"""

from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertModel,
    DynamicCache,
    GPT2Config,
    GPT2Model,
    LlamaConfig,
    MarianConfig,
    MarianMTModel,
)
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

from tests.parity.hugging_face import copy_bert, copy_gpt2, copy_llama_attention
from tests.parity.mapping import randomise
from translator.attention.capture import capture
from translator.attention.multihead import CausalSelfAttention
from translator.interop.marian import marian_to_ours, ours_to_marian
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

B, S, T, H, DH, WIDE, V, P = 3, 7, 5, 3, 11, 17, 53, 13
D = H * DH
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")
EXACTLY = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
KERNELS = pytest.mark.parametrize("kernel", ["eager", "sdpa"])
PADDED = pytest.mark.parametrize("lengths", [None, (7, 2, 5)], ids=["whole", "padded"])


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.no_grad():
        yield


def close(found: Tensor, expected: Tensor) -> None:
    assert found.dtype == expected.dtype
    tolerance = TOLERANCE[expected.dtype]
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def ids(*shape: int, seed: int = 2, first: int = 4) -> Tensor:
    return torch.randint(first, V - 1, shape, generator=torch.Generator().manual_seed(seed))


def valid(width: int, lengths: tuple[int, ...] | None) -> Tensor:
    """(B, width): real tokens first."""
    ends = torch.tensor([width] * B if lengths is None else lengths)
    return torch.arange(width) < ends[:, None]


def ours(copy: Callable[[Transformer, torch.nn.Module], None], theirs: torch.nn.Module, **changes) -> Transformer:
    """Our model of their sizes with their weights, in their type."""
    sizes = {"d_model": D, "n_heads": H, "d_ff": WIDE, "dropout": 0.0, "max_positions": P, "positions": "learned"}
    model = Transformer(ModelConfig(**({"vocab_size": V} | sizes | changes))).to(theirs.dtype).eval()
    copy(model, theirs)
    return model


# --- BERT: an encoder alone (Devlin 2019, 1810.04805)


@cache
def bert(kernel: str, dtype: torch.dtype) -> tuple[BertModel, Transformer]:
    config = BertConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=2, num_attention_heads=H, intermediate_size=WIDE,
        hidden_act="gelu", max_position_embeddings=P, type_vocab_size=2, layer_norm_eps=1e-3,
        attn_implementation=kernel,
    )  # fmt: skip
    theirs = BertModel(config).to(dtype).eval()
    randomise(theirs, 1)
    options = {"norm": "post", "activation": "gelu", "norm_epsilon": 1e-3, "embedding_norm": True}
    options |= {"embedding_scale": False, "n_encoder_layers": 2, "n_decoder_layers": 0, "vocab_size": 2 * V}
    return theirs, ours(copy_bert, theirs, **options)


@EXACTLY
@KERNELS
@PADDED
def test_an_encoder_alone_is_bert(kernel, dtype, lengths):
    theirs, model = bert(kernel, dtype)
    words, real = ids(B, S), valid(S, lengths)
    segments = (torch.arange(S) >= torch.tensor([3, 1, 4])[:, None]).long()
    told = theirs(words, attention_mask=real.long(), token_type_ids=segments, output_attentions=kernel == "eager")
    with capture(model) as record:
        explicit = model.encode(words + V * segments, real)
    close(explicit, told.last_hidden_state)
    close(model.encode(words + V * segments, real), told.last_hidden_state)
    if kernel == "eager":
        for layer, weights in enumerate(told.attentions):
            close(record.encoder[layer], weights)


# --- GPT-2: a decoder without cross-attention (Radford 2019)


@cache
def gpt2(kernel: str, dtype: torch.dtype) -> tuple[GPT2Model, Transformer]:
    config = GPT2Config(
        vocab_size=V, n_embd=D, n_layer=2, n_head=H, n_inner=WIDE, n_positions=P, layer_norm_epsilon=1e-3,
        activation_function="gelu_new", attn_implementation=kernel, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    theirs = GPT2Model(config).to(dtype).eval()
    randomise(theirs, 2)
    options = {"norm": "pre", "activation": "gelu_tanh", "norm_epsilon": 1e-3, "embedding_scale": False}
    options |= {"n_encoder_layers": 0, "n_decoder_layers": 2, "cross": False}
    return theirs, ours(copy_gpt2, theirs, **options)


@EXACTLY
@KERNELS
@PADDED
def test_a_decoder_without_cross_attention_is_gpt2(kernel, dtype, lengths):
    theirs, model = gpt2(kernel, dtype)
    words, real = ids(B, S), valid(S, lengths)
    expected = theirs(words, attention_mask=real.long(), use_cache=False).last_hidden_state
    found, _ = model.extend(words, model.start_alone(B))
    close(found[real], expected[real])


@EXACTLY
@KERNELS
@PADDED
def test_its_cache_is_gpt2s(kernel, dtype, lengths):
    theirs, model = gpt2(kernel, dtype)
    words, real = ids(B, S), valid(S, lengths)
    state, past = model.start_alone(B), DynamicCache()
    for piece, now in zip(words.split([1, 1, 3, 2], dim=1), real.split([1, 1, 3, 2], dim=1), strict=True):
        so_far = real[:, : state.length + piece.shape[1]]
        told = theirs(piece, attention_mask=so_far.long(), cache=past, use_cache=True)
        found, state = model.extend(piece, state)
        close(found[now], told.last_hidden_state[now])
    for ours_kv, their_layer in zip(state.self_kv, past.layers, strict=True):
        close(ours_kv.k.transpose(1, 2)[real], their_layer.keys.transpose(1, 2)[real])
        close(ours_kv.v.transpose(1, 2)[real], their_layer.values.transpose(1, 2)[real])


# --- Marian: encoder and decoder (Junczys-Dowmunt 2018, 1804.00344)

TYINGS = [
    ("all", True, True, "sinusoidal_halves"),
    ("decoder", False, True, "learned"),
    ("none", False, False, "sinusoidal_halves"),
]
MARIAN = ModelConfig(
    V, D, H, 2, 3, WIDE, dropout=0.0, norm="post", positions="sinusoidal_halves", activation="silu", output_bias=True,
    max_positions=P, pad_id=V - 1, bos_id=V - 1, eos_id=0, unk_id=1,
)  # fmt: skip


def marian(kernel: str, dtype: torch.dtype, shared: bool = True, tied: bool = True) -> MarianMTModel:
    config = MarianConfig(
        vocab_size=V, d_model=D, encoder_layers=2, decoder_layers=3, encoder_attention_heads=H, encoder_ffn_dim=WIDE,
        decoder_attention_heads=H, decoder_ffn_dim=WIDE, max_position_embeddings=P, activation_function="swish",
        scale_embedding=True, pad_token_id=V - 1, decoder_start_token_id=V - 1, eos_token_id=0, forced_eos_token_id=0,
        share_encoder_decoder_embeddings=shared, tie_word_embeddings=tied, attn_implementation=kernel,
    )  # fmt: skip
    theirs = MarianMTModel(config).to(dtype).eval()
    made = {name: p.clone() for name, p in theirs.named_parameters() if "embed_positions" in name}
    randomise(theirs, 3)
    for name, table in made.items():
        theirs.get_parameter(name).copy_(table)
    theirs.final_logits_bias.copy_(torch.linspace(-1.0, 1.0, V))
    return theirs


@cache
def marian_and_ours(kernel: str, dtype: torch.dtype) -> tuple[MarianMTModel, Transformer]:
    """Ours with their weights; they have sinusoids in float32, and get better ones where the rest is better."""
    theirs, model = marian(kernel, dtype), Transformer(MARIAN).to(dtype).eval()
    for name, weight in marian_to_ours(theirs.state_dict(), MARIAN).items():
        model.get_parameter(name).copy_(weight)
    tables = ours_to_marian(dict(model.named_parameters()), MARIAN)
    for name, table in tables.items():
        if "embed_positions" in name:
            torch.testing.assert_close(theirs.get_parameter(name), table, rtol=0, atol=1e-6)
            theirs.get_parameter(name).copy_(table)
    return theirs, model


def possible(logits: Tensor) -> Tensor:
    """All but the padding piece, which ours never produce."""
    return logits[..., : V - 1]


def targets() -> Tensor:
    return torch.cat((torch.full((B, 1), V - 1), ids(B, T - 1, seed=5)), dim=1)


@EXACTLY
@KERNELS
@PADDED
def test_the_whole_is_marian(kernel, dtype, lengths):
    theirs, model = marian_and_ours(kernel, dtype)
    words, real, read = ids(B, S), valid(S, lengths), targets()
    told = theirs(input_ids=words, attention_mask=real.long(), decoder_input_ids=read, use_cache=False)
    close(model.encode(words, real), told.encoder_last_hidden_state)
    close(possible(model(words, real, read)), possible(told.logits))


@EXACTLY
@KERNELS
@PADDED
def test_its_cache_is_marians(kernel, dtype, lengths):
    theirs, model = marian_and_ours(kernel, dtype)
    words, real, read = ids(B, S), valid(S, lengths), targets()
    memory, past = theirs.model.encoder(words, attention_mask=real.long()), None
    state = model.start(words, real)
    for piece in read.split([1, 1, 3], dim=1):
        told = theirs(
            encoder_outputs=memory, attention_mask=real.long(), decoder_input_ids=piece, cache=past, use_cache=True
        )
        past = told.cache
        hidden, state = model.extend(piece, state)
        close(possible(model.logits(hidden)), possible(told.logits))
    for ours_kv, their_layer in zip(state.cross_kv, past.cross_attention_cache.layers, strict=True):
        close(ours_kv.k, their_layer.keys)


@pytest.mark.parametrize(("tying", "shared", "tied", "positions"), TYINGS)
def test_our_weights_are_marians(tying, shared, tied, positions):
    """Random weights of ours in their class: every tensor that it asks for is there, and they come back bit by bit."""
    values = MARIAN.to_dict() | {"tie_embeddings": tying, "positions": positions}
    config = ModelConfig.from_dict(values)
    model = Transformer(config).double().eval()
    randomise(model, 7)
    parameters = dict(model.named_parameters())
    theirs = marian("eager", torch.float64, shared, tied)
    theirs.load_state_dict(ours_to_marian(parameters, config), strict=True)
    words, real, read = ids(B, S), valid(S, (7, 2, 5)), targets()
    told = theirs(input_ids=words, attention_mask=real.long(), decoder_input_ids=read)
    close(possible(model(words, real, read)), possible(told.logits))
    back = marian_to_ours(theirs.state_dict(), config)
    assert back.keys() == parameters.keys()
    assert all(torch.equal(back[name], parameter) for name, parameter in parameters.items())


# --- Llama: shared key/value heads and rotary positions (Touvron 2023, 2307.09288; Ainslie 2023; Su 2021)


def turns(config: LlamaConfig, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Their cosines and sines (1, T, Dh), which are in float32; in float64 the same by the formula."""
    if dtype == torch.float32:
        return LlamaRotaryEmbedding(config)(torch.zeros(1), positions[None])
    frequency = 10_000.0 ** (-torch.arange(0, config.head_dim, 2, dtype=dtype) / config.head_dim)
    angle = (positions[:, None] * frequency).repeat(1, 2)[None]
    return angle.cos(), angle.sin()


# In float64 their written-out softmax is still in float32, so only the fused kernel is compared there.
@pytest.mark.parametrize(
    ("kernel", "dtype"), [("eager", torch.float32), ("sdpa", torch.float32), ("sdpa", torch.float64)]
)
@pytest.mark.parametrize(("n_kv_heads", "bias"), [(1, True), (2, True), (3, False), (6, True)])
@pytest.mark.parametrize("chunk", [S, 1, 3])
def test_shared_heads_that_turn_are_llamas(kernel, dtype, n_kv_heads, bias, chunk):
    n_heads, head_dim = 6, 10
    config = LlamaConfig(
        hidden_size=60, num_attention_heads=n_heads, num_key_value_heads=n_kv_heads, head_dim=head_dim,
        attention_bias=bias, attn_implementation=kernel, num_hidden_layers=1, max_position_embeddings=P,
    )  # fmt: skip
    theirs = LlamaAttention(config, layer_idx=0).to(dtype).eval()
    randomise(theirs, 4)
    attention = CausalSelfAttention(60, n_heads, n_kv_heads=n_kv_heads, rotary=True).to(dtype).eval()
    copy_llama_attention(attention, theirs)

    x = torch.randn(B, S, 60, dtype=dtype, generator=torch.Generator().manual_seed(6))
    past, their_past = None, DynamicCache()
    for start in range(0, S, chunk):
        piece = x[:, start : start + chunk]
        positions = torch.arange(start, start + piece.shape[1])
        hidden = torch.arange(start + piece.shape[1]) > positions[:, None]  # (T, K)
        mask = torch.zeros(hidden.shape, dtype=dtype).masked_fill(hidden, torch.finfo(dtype).min)[None, None]
        told, _ = theirs(piece, turns(config, positions, dtype), mask, cache=their_past)
        found, past = attention(piece, past)
        close(found, told)
    close(past.k, their_past.layers[0].keys)
    close(past.v, their_past.layers[0].values)
