"""What a model is: plain frozen values that travel with the weights. Standard library only."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, get_args

from translator.errors import UserError

Norm = Literal["pre", "post"]
Positions = Literal["sinusoidal", "sinusoidal_halves", "learned", "rotary", "none"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Tying = Literal["all", "decoder", "none"]

_Config = TypeVar("_Config")

_SIZES = ("vocab_size", "d_model", "n_heads", "d_ff", "max_positions")
_DEPTHS = ("n_encoder_layers", "n_decoder_layers")
_CHOICES = {"norm": Norm, "positions": Positions, "tie_embeddings": Tying, "activation": Activation}
_SWITCHES = ("embedding_norm", "embedding_scale", "output_bias", "cross")
_PATTERNS = ("window", "stride", "top_k")
_SITES = ("encoder_attention", "decoder_attention", "cross_attention")


@dataclass(frozen=True)
class Site:
    """One place where attention is used: how many key/value heads (None: one a head), and which keys are looked at.

    At most one of these: a window's width, the stride of neighbours and summaries, how many keys of the highest
    scores. None of them: all.
    """

    n_kv_heads: int | None = None
    window: int | None = None
    stride: int | None = None
    top_k: int | None = None

    def pattern(self) -> dict[str, int | None]:
        """What `attention.patterns.choose_pattern` takes."""
        return {name: getattr(self, name) for name in _PATTERNS}


@dataclass(frozen=True)
class ModelConfig:
    """Everything that is needed to build the Transformer; the defaults are the `small` model's.

    An encoder alone has no decoder layers; a decoder alone has neither encoder layers nor ``cross``. A decoder over
    foreign vectors has no encoder layers either, and names their width as ``memory_dim``.

    Raises:
        UserError: values that do not fit together, or an unknown key, by name.
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
        for name in (*_SIZES, *_DEPTHS):
            _check_whole("model", name, getattr(self, name), least=int(name in _SIZES))
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise UserError(f"model: {name} must be at least 0 and below 1, not {getattr(self, name)!r}")
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                raise UserError(
                    f"model: {name} must be one of {', '.join(get_args(kind))}, not {getattr(self, name)!r}"
                )
        for name in ("pad_id", "unk_id", "bos_id", "eos_id"):
            value = getattr(self, name)
            if not _is_whole(value) or not 0 <= value < self.vocab_size:
                raise UserError(f"model: {name} must be a whole number from 0 to {self.vocab_size - 1}, not {value!r}")
        self._check_options()
        self._check_stacks()
        self._check_heads()
        self._check_pruned_heads()

    def _check_options(self) -> None:
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise UserError(f"model: {name} must be true or false, not {getattr(self, name)!r}")
        epsilon = self.norm_epsilon
        if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not 0.0 < epsilon < 1.0:
            raise UserError(f"model: norm_epsilon must be a number above 0 and below 1, not {epsilon!r}")

    def _check_stacks(self) -> None:
        if self.memory_dim is not None:
            _check_whole("model", "memory_dim", self.memory_dim)
            if self.n_encoder_layers or not self.cross:
                raise UserError(
                    "model: memory_dim is the width of a memory from elsewhere; it goes with n_encoder_layers 0 and "
                    "cross true"
                )
        if not self.n_encoder_layers and not self.n_decoder_layers:
            raise UserError("model: n_encoder_layers and n_decoder_layers are both 0; give one of them a layer")
        if self.n_encoder_layers and self.n_decoder_layers and not self.cross:
            raise UserError(
                "model: with cross false nothing reads the encoder; set n_encoder_layers to 0, or cross to true"
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
            raise UserError(
                "this model is no translator: it has "
                + ("no decoder" if not self.has_target else "no source to look at")
                + "; train one with n_decoder_layers of at least 1 and cross true"
            )

    def _check_heads(self) -> None:
        if self.d_model % self.n_heads:
            raise UserError(f"model: d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})")
        head_dim = self.d_model // self.n_heads
        if self.positions == "rotary" and head_dim % 2:
            raise UserError(f"model: rotary positions need an even head size, not {head_dim} (d_model / n_heads)")
        for name in _SITES:
            _check_site(name, getattr(self, name), self.n_heads)
        for key in ("window", "stride"):
            if getattr(self.cross_attention, key) is not None:
                raise UserError(
                    f"cross_attention: a {key} has no meaning between two sentences; set {key} for self-attention only"
                )

    def _check_pruned_heads(self) -> None:
        layers = {"encoder": self.n_encoder_layers, "decoder": self.n_decoder_layers, "cross": self.n_decoder_layers}
        for site, heads in _mapping(self.pruned_heads, "pruned_heads").items():
            kind, _, layer = str(site).partition(".")
            if layer not in map(str, range(layers.get(kind, 0))):
                last = ", ".join(f"{name}.0 to {name}.{n - 1}" for name, n in layers.items())
                raise UserError(f"pruned_heads: there is no attention {site!r}; there are {last}")
            if not _are_numbers(heads, self.n_heads):
                raise UserError(
                    f"pruned_heads: {site} must hold different whole numbers from 0 to {self.n_heads - 1} "
                    f"in ascending order, not {heads!r}"
                )

    def without_heads(self, heads: Mapping[str, Collection[int]]) -> "ModelConfig":
        """The same with more heads removed; those that have gone before stay so."""
        sites = sorted({*self.pruned_heads, *heads})
        gone = {site: sorted({*self.pruned_heads.get(site, ()), *heads.get(site, ())}) for site in sites}
        return replace(self, pruned_heads={site: numbers for site, numbers in gone.items() if numbers})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelConfig":
        """Build from plain values as `to_dict` gives them."""
        values = dict(_mapping(values, "model"))
        for name in _SITES:
            if name in values:
                values[name] = from_dict(Site, values[name], name)
        return from_dict(cls, values, "model")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; ``pruned_heads`` stands there only where there are any."""
        values = asdict(self)
        if not self.pruned_heads:
            del values["pruned_heads"]
        return values


def from_dict(kind: type[_Config], values: Mapping[str, Any], where: str) -> _Config:
    """Build a dataclass from a mapping and refuse unknown or missing keys by name."""
    values = _mapping(values, where)
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise UserError(f"{where}: unknown key {key!r}; {hint}")
    try:
        return kind(**values)
    except TypeError as error:
        raise UserError(f"{where}: {error}") from error


def _mapping(values: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise UserError(f"{where}: must be a mapping, not {values!r}")
    return values


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_numbers(values: Any, end: int) -> bool:
    """Whether these are different whole numbers from 0 to below ``end``, in ascending order."""
    if not isinstance(values, list) or not all(_is_whole(value) and 0 <= value < end for value in values):
        return False
    return values == sorted(set(values))


def _check_whole(where: str, name: str, value: Any, least: int = 1) -> None:
    if not _is_whole(value) or value < least:
        raise UserError(f"{where}: {name} must be a whole number of at least {least}, not {value!r}")


def _check_site(name: str, site: Site, n_heads: int) -> None:
    if site.n_kv_heads is not None:
        _check_whole(name, "n_kv_heads", site.n_kv_heads)
        if n_heads % site.n_kv_heads:
            raise UserError(f"{name}: n_heads ({n_heads}) must be a multiple of n_kv_heads ({site.n_kv_heads})")
    given = {key: value for key, value in site.pattern().items() if value is not None}
    for key, value in given.items():
        _check_whole(name, key, value)
    if len(given) > 1:
        raise UserError(f"{name}: {' and '.join(given)} exclude each other; set one of them")
