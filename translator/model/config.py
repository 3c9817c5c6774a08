"""What a model is: plain frozen values that travel with the weights. Standard library only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, get_args

from translator.errors import UserError

Norm = Literal["pre", "post"]
Positions = Literal["sinusoidal", "learned", "rotary"]
Tying = Literal["all", "decoder", "none"]

_Config = TypeVar("_Config")

_SIZES = ("vocab_size", "d_model", "n_heads", "n_encoder_layers", "n_decoder_layers", "d_ff", "max_positions")
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
    encoder_attention: Site = field(default_factory=Site)
    decoder_attention: Site = field(default_factory=Site)
    cross_attention: Site = field(default_factory=Site)
    pad_id: int = 0
    unk_id: int = 1
    bos_id: int = 2
    eos_id: int = 3

    def __post_init__(self) -> None:
        for name in _SIZES:
            _check_whole("model", name, getattr(self, name))
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise UserError(f"model: {name} must be at least 0 and below 1, not {getattr(self, name)!r}")
        for name, kind in (("norm", Norm), ("positions", Positions), ("tie_embeddings", Tying)):
            if getattr(self, name) not in get_args(kind):
                raise UserError(
                    f"model: {name} must be one of {', '.join(get_args(kind))}, not {getattr(self, name)!r}"
                )
        for name in ("pad_id", "unk_id", "bos_id", "eos_id"):
            value = getattr(self, name)
            if not _is_whole(value) or not 0 <= value < self.vocab_size:
                raise UserError(f"model: {name} must be a whole number from 0 to {self.vocab_size - 1}, not {value!r}")
        self._check_heads()

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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelConfig":
        """Build from plain values as `to_dict` gives them."""
        values = dict(_mapping(values, "model"))
        for name in _SITES:
            if name in values:
                values[name] = from_dict(Site, values[name], name)
        return from_dict(cls, values, "model")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


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


def _check_whole(where: str, name: str, value: Any) -> None:
    if not _is_whole(value) or value < 1:
        raise UserError(f"{where}: {name} must be a whole number of at least 1, not {value!r}")


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
