"""The encoder-decoder Transformer (Vaswani et al. 2017, 1706.03762), pre-norm by default.

Letters: B sentences, N rows (beams) a sentence, S source length, T target length, D d_model, V vocabulary.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.attention.heads import prune
from translator.attention.multihead import CausalSelfAttention, SelfAttention
from translator.model.config import ModelConfig
from translator.model.embeddings import Embeddings
from translator.model.layers import DecoderLayer, EncoderLayer
from translator.model.state import DecoderState


class Transformer(nn.Module):
    """Source ids in, target distributions out; teacher forcing and cached steps run through the same code.

    Initialised with Xavier-uniform matrices (Glorot 2010), zero biases, and embeddings from N(0, 1/D), so that the
    scaled embeddings have unit variance and the first loss is near ln V.

    Its configuration also makes of it an encoder alone, as BERT is (Devlin 2019, 1810.04805): `encode`; a decoder
    alone, as GPT is (Radford 2018; Brown 2020, 2005.14165): `start_alone`, `extend`, `step`; or a decoder over vectors
    from elsewhere: `start_from`. One stack has one `Embeddings`, under both names.
    """

    excluded_ids: Tensor
    logit_mask: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        target_tokens = nn.Embedding(config.vocab_size, config.d_model)
        both = config.has_source and config.has_target
        shared = config.tie_embeddings == "all" or not both
        source_tokens = target_tokens if shared else nn.Embedding(config.vocab_size, config.d_model)
        self.src_embeddings = Embeddings(config, source_tokens)
        self.tgt_embeddings = Embeddings(config, target_tokens) if both else self.src_embeddings
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_decoder_layers))
        # What ends a stack; post-norm layers already end in a norm.
        norm = partial(nn.LayerNorm, config.d_model, eps=config.norm_epsilon) if config.norm == "pre" else nn.Identity
        self.encoder_norm = norm() if config.has_source else nn.Identity()
        self.decoder_norm = norm() if config.has_target else nn.Identity()
        untied = config.tie_embeddings == "none"
        self.output = nn.Embedding(config.vocab_size, config.d_model) if untied else target_tokens
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None
        excluded_ids = torch.tensor(sorted({config.pad_id, config.bos_id}))  # one piece may be both, as in Marian's
        logit_mask = torch.zeros(config.vocab_size).index_fill(0, excluded_ids, float("-inf"))
        self.register_buffer("excluded_ids", excluded_ids, persistent=False)
        self.register_buffer("logit_mask", logit_mask, persistent=False)
        #: Stands in for the product with the output embeddings where that is computed otherwise; see `int8.quantize`.
        self.projection: nn.Module | None = None
        self._initialise()
        prune(self, config.pruned_heads)

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5)

    @property
    def n_parameters(self) -> int:
        """Numbers that are learned; tied ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def prune_heads(self, heads: Mapping[str, Collection[int]]) -> None:
        """Remove heads for good, ``{"encoder.0": [1, 3]}`` by original number, and note it in the configuration.

        Raises UserError as `prune`; nothing has been removed then.
        """
        prune(self, heads)
        self.config = self.config.without_heads(heads)

    def join_projections(self) -> None:
        """Compute queries, keys and values of each self-attention in one product, for good; see `join`."""
        for module in self.modules():
            if isinstance(module, SelfAttention | CausalSelfAttention):
                module.join()

    def encode(self, src_ids: Tensor, src_valid: Tensor) -> Tensor:
        """Source ids (B, S) and their validity (B, S) -> memory (B, S, D)."""
        return self.encode_embedded(self.src_embeddings(src_ids), src_valid)

    def encode_embedded(self, x: Tensor, src_valid: Tensor) -> Tensor:
        """Embedded source ids (B, S, D) and their validity (B, S) -> memory (B, S, D)."""
        for layer in self.encoder:
            x = layer(x, src_valid)
        memory: Tensor = self.encoder_norm(x)
        return memory

    def start_from(self, memory: Tensor, src_valid: Tensor) -> DecoderState:
        """Memory (B, S, D) or (B, S, memory_dim) -> the state before the first target token, one row a sentence."""
        cross_kv = tuple(layer.cross_attn.project_kv(memory) for layer in self.decoder)  # type: ignore[union-attr, operator]
        return DecoderState(cross_kv, src_valid, (None,) * len(self.decoder))

    def start(self, src_ids: Tensor, src_valid: Tensor) -> DecoderState:
        """Source ids (B, S) -> the state before the first target token, one row a sentence."""
        return self.start_from(self.encode(src_ids, src_valid), src_valid)

    def start_alone(self, n_rows: int) -> DecoderState:
        """The state before the first token of a decoder without cross-attention."""
        nothing = torch.ones(n_rows, 0, dtype=torch.bool, device=self.excluded_ids.device)
        return DecoderState((), nothing, (None,) * len(self.decoder))

    def extend(self, ids: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read ids (B*N, T) after what the state has read -> hidden (B*N, T, D) and the longer state.

        T may be the whole target (teacher forcing), a chunk, or one token.
        """
        x = self.tgt_embeddings(ids, start=state.length)
        caches = []
        memories = state.cross_kv or (None,) * len(self.decoder)
        for layer, past, memory in zip(self.decoder, state.self_kv, memories, strict=True):
            x, cache = layer(x, past, memory, state.src_valid)
            caches.append(cache)
        return self.decoder_norm(x), replace(state, self_kv=tuple(caches), length=state.length + ids.shape[1])

    def decode(self, tgt_in: Tensor, memory: Tensor, src_valid: Tensor) -> Tensor:
        """Teacher forcing: target input (B, T) over memory (B, S, D) -> hidden (B, T, D)."""
        return self.extend(tgt_in, self.start_from(memory, src_valid))[0]

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden (..., D) times the output embeddings (V, D), plus a bias -> logits (..., V).

        Padding and begin-of-sentence get -inf before anything is normalised, so they have no probability in training,
        in forced scoring and in search alike. Where a bias is learned it comes with that; else it is written into the
        few columns afterwards, since adding a bias is one more pass over all logits.
        """
        if self.projection is not None:
            logits: Tensor = self.projection(hidden)
            return logits
        if self.output_bias is None:
            return F.linear(hidden, self.output.weight).index_fill_(-1, self.excluded_ids, float("-inf"))
        return F.linear(hidden, self.output.weight, self.logit_bias())

    def logit_bias(self) -> Tensor:
        """What is added to the logits (V,): -inf for what is never produced, and the bias where one is learned."""
        return self.logit_mask if self.output_bias is None else self.logit_mask + self.output_bias

    def forward(self, src_ids: Tensor, src_valid: Tensor, tgt_in: Tensor) -> Tensor:
        """Source (B, S), target input (B, T) -> logits (B, T, V)."""
        return self.logits(self.decode(tgt_in, self.encode(src_ids, src_valid), src_valid))

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """The newest token of every row (B*N,) -> logits of the next (B*N, V), and the state."""
        hidden, state = self.extend(last_ids[:, None], state)
        return self.logits(hidden[:, 0]), state
