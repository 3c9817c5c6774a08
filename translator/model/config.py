"""What a model is: plain frozen values that travel with the weights. Standard library only."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

from translator.errors import UserError, at_least, did_you_mean, one_of

Norm = Literal["pre", "post"]
Positions = Literal["sinusoidal", "sinusoidal_halves", "learned", "rotary", "none"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Tying = Literal["all", "decoder", "none"]

_Config = TypeVar("_Config")

_ONE_OR_MORE = ("vocab_size", "d_model", "n_heads", "d_ff", "max_positions")
_LEAST = dict.fromkeys(_ONE_OR_MORE, 1) | {"n_encoder_layers": 0, "n_decoder_layers": 0}
_CHOICES = {"norm": Norm, "positions": Positions, "tie_embeddings": Tying, "activation": Activation}
_SITES = ("encoder_attention", "decoder_attention", "cross_attention")


@dataclass(frozen=True)
class Site:
    """One place where attention is used: how many key/value heads (None: one per head), and which keys are looked at.

    At most one of these: a window's width, the stride of neighbours and summaries, how many keys of the highest
    scores. None of them: all.
    """

    n_kv_heads: int | None = None
    window: int | None = None
    stride: int | None = None
    top_k: int | None = None

    def pattern(self) -> dict[str, int | None]:
        """What `attention.patterns.choose_pattern` takes."""
        return {"window": self.window, "stride": self.stride, "top_k": self.top_k}

    def check(self, name: str, n_heads: int) -> None:
        """Raise UserError for numbers that cannot be those of an attention of this name and number of heads."""
        given = {key: value for key, value in vars(self).items() if value is not None}
        for key, value in given.items():
            at_least(f"{name}: {key}", value, 1)
        if n_heads % given.pop("n_kv_heads", 1):
            raise UserError(f"{name}: n_heads ({n_heads}) must be a multiple of n_kv_heads ({self.n_kv_heads})")
        if len(given) > 1:
            raise UserError(f"{name}: {' and '.join(given)} exclude each other; set one of them")
        for key in given:
            if name == "cross_attention" and key != "top_k":
                raise UserError(f"{name}: a {key} has no meaning between two sentences; set it for self-attention only")


@dataclass(frozen=True)
class ModelConfig:
    """Everything that is needed to build the Transformer; the defaults are the `small` model's.

    An encoder alone has no decoder layers; a decoder alone has neither encoder layers nor ``cross``. A decoder over
    foreign vectors has no encoder layers either, and names their width as ``memory_dim``.

    Raises UserError for values that do not fit together and for an unknown key, by name.
    """

    vocab_size: int
    d_model: int = 256
    n_heads: int = 8
    n_encoder_layers: int = 3
    n_decoder_layers: int = 3
    d_ff: int = 1024
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    norm: Norm = "pre"
    positions: Positions = "sinusoidal"
    tie_embeddings: Tying = "all"
    max_positions: int = 1024
    activation: Activation = "relu"  # see `translator.model.layers.ACTIVATIONS`
    norm_epsilon: float = 1e-5  # added to the variance in every norm (Ba 2016, 1607.06450); BERT has 1e-12
    embedding_norm: bool = False  # LayerNorm on the embeddings, before dropout (Devlin 2019's released BERT)
    embedding_scale: bool = True  # token vectors times sqrt(d_model) (Vaswani 2017, 3.4); BERT and GPT go without
    output_bias: bool = False  # a number added to the logit of each piece (Marian's decoder_ff_logit_out_b)
    cross: bool = True  # whether the decoder looks at a memory; without, it is GPT's (Radford 2018, 3.1)
    memory_dim: int | None = None  # width of a memory that comes from elsewhere; None: the encoder's output
    encoder_attention: Site = field(default_factory=Site)
    decoder_attention: Site = field(default_factory=Site)
    cross_attention: Site = field(default_factory=Site)
    #: Heads that have been removed, by their original numbers: {"encoder.0": [1, 3], "decoder.2": [0], "cross.3": [5]}.
    pruned_heads: dict[str, list[int]] = field(default_factory=dict)
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            at_least(f"model: {name}", getattr(self, name), least)
        at_least("model: memory_dim", 1 if self.memory_dim is None else self.memory_dim, 1)
        for name, choices in _CHOICES.items():
            one_of(f"model: {name}", getattr(self, name), get_args(choices))
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            self._require(name, 0.0 <= getattr(self, name) < 1.0, "at least 0 and below 1")
        for name in ("embedding_norm", "embedding_scale", "output_bias", "cross"):
            self._require(name, isinstance(getattr(self, name), bool), "true or false")
        small = isinstance(self.norm_epsilon, float) and 0.0 < self.norm_epsilon < 1.0
        self._require("norm_epsilon", small, "a number above 0 and below 1")
        for name in ("pad_id", "unk_id", "bos_id", "eos_id"):
            is_row = type(getattr(self, name)) is int and getattr(self, name) in range(self.vocab_size)
            self._require(name, is_row, f"a whole number from 0 to {self.vocab_size - 1}")
        for name in _SITES:
            getattr(self, name).check(name, self.n_heads)
        for misfit in self._misfits():
            raise UserError(f"model: {misfit}")
        self._check_pruned_heads()

    def _require(self, name: str, holds: bool, what: str) -> None:
        if not holds:
            raise UserError(f"model: {name} must be {what}, not {getattr(self, name)!r}")

    def _misfits(self) -> Iterator[str]:
        """What is right by itself but does not go together, in words."""
        if self.memory_dim is not None and (self.n_encoder_layers or not self.cross):
            yield "memory_dim is the width of a memory from elsewhere; it goes with n_encoder_layers 0 and cross true"
        if not self.n_encoder_layers and not self.n_decoder_layers:
            yield "n_encoder_layers and n_decoder_layers are both 0; give one of them a layer"
        if self.n_encoder_layers and self.n_decoder_layers and not self.cross:
            yield "with cross false nothing reads the encoder; set n_encoder_layers to 0, or cross to true"
        if self.d_model % self.n_heads:
            yield f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})"
        head_dim = self.d_model // self.n_heads
        if self.positions == "rotary" and head_dim % 2:
            yield f"rotary positions need an even head size, not {head_dim} (d_model / n_heads)"

    def _check_pruned_heads(self) -> None:
        layers = {"encoder": self.n_encoder_layers, "decoder": self.n_decoder_layers, "cross": self.n_decoder_layers}
        for site, heads in _mapping(self.pruned_heads, "pruned_heads").items():
            kind, _, layer = str(site).partition(".")
            if layer not in map(str, range(layers.get(kind, 0))):
                last = ", ".join(f"{name}.0 to {name}.{n - 1}" for name, n in layers.items())
                raise UserError(f"pruned_heads: there is no attention {site!r}; there are {last}")
            whole = isinstance(heads, list) and all(type(number) is int for number in heads)
            if not whole or heads != [number for number in range(self.n_heads) if number in heads]:
                raise UserError(
                    f"pruned_heads: {site} must hold different whole numbers from 0 to {self.n_heads - 1} "
                    f"in ascending order, not {heads!r}"
                )

    @property
    def has_source(self) -> bool:
        """Whether the model reads source ids."""
        return self.n_encoder_layers > 0 or (self.cross and self.memory_dim is None)

    @property
    def has_target(self) -> bool:
        """Whether the model writes: an encoder alone does not."""
        return self.n_decoder_layers > 0

    def check_translates(self) -> None:
        """Raise UserError unless the model reads a source and writes a target."""
        if not (self.has_source and self.has_target):
            lacks = "source to look at" if self.has_target else "decoder"
            raise UserError(
                f"this model is no translator: it has no {lacks}; train one with n_decoder_layers of at least 1 and "
                "cross true"
            )

    def without_heads(self, heads: Mapping[str, Collection[int]]) -> "ModelConfig":
        """The same with more heads removed; those that have gone before stay so."""
        sites = sorted({*self.pruned_heads, *heads})
        gone = {site: sorted({*self.pruned_heads.get(site, ()), *heads.get(site, ())}) for site in sites}
        return replace(self, pruned_heads={site: numbers for site, numbers in gone.items() if numbers})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelConfig":
        """Build from plain values as `to_dict` gives them."""
        values = {
            key: from_dict(Site, value, key) if key in _SITES else value
            for key, value in _mapping(values, "model").items()
        }
        return from_dict(cls, values, "model")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``pruned_heads`` stands there only where there are any."""
        return {name: value for name, value in asdict(self).items() if value or name != "pruned_heads"}


def from_dict(kind: type[_Config], values: Mapping[str, Any], where: str) -> _Config:
    """Build a dataclass from a mapping and refuse unknown or missing keys by name."""
    values = _mapping(values, where)
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            hint = did_you_mean(str(key), known) or f"; known: {', '.join(known)}"
            raise UserError(f"{where}: unknown key {key!r}{hint}")
    try:
        return kind(**values)
    except TypeError as error:
        raise UserError(f"{where}: {error}") from error


def _mapping(values: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise UserError(f"{where}: must be a mapping, not {values!r}")
    return values
