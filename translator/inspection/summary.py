"""What a checkpoint is: its parameters by part, its attention, and the memory that its cache takes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from translator.attention.heads import attentions
from translator.inspection.tables import aligned
from translator.model.costs import BYTES, multiply_adds_per_token
from translator.model.transformer import Transformer

Row = tuple[str, ...]

LENGTHS = (16, 64, 256, 1024)  # tokens on either side for which the work is told
_SUBLAYERS = {"self_attn": "self-attention", "cross_attn": "cross-attention", "feed_forward": "feed-forward"}
_OUTSIDE = {
    "src_embeddings": "source embeddings",
    "tgt_embeddings": "target embeddings",
    "encoder_norm": "encoder norms",
    "decoder_norm": "decoder norms",
    "output": "output projection",
    "output_bias": "output bias",
}
#: By the kind's name in sites such as ``encoder.0``.
_KINDS = {kind: f"{kind} self-attention" for kind in ("encoder", "decoder")} | {"cross": "decoder cross-attention"}


@dataclass(frozen=True)
class AttentionSite:
    """One attention sublayer of one layer."""

    kind: str
    layer: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    window: int | None
    stride: int | None = None
    top_k: int | None = None
    pruned: tuple[int, ...] = ()  # heads that have been removed, by original number

    @property
    def kv_bytes(self) -> int:
        """Bytes of keys and values of one token, in float32."""
        return 2 * self.n_kv_heads * self.head_dim * BYTES

    @property
    def sees(self) -> str:
        """Which keys a query looks at."""
        told = {"window": self.window, "stride": self.stride, "top": self.top_k}
        return next((f"{name} {value}" for name, value in told.items() if value is not None), "sees all it may")


@dataclass(frozen=True)
class CacheSize:
    """Bytes a decoder keeps, in float32, over all layers."""

    target_token: int  # a produced token of each beam (or draw) adds this
    source_token: int  # a source token adds this once a sentence, whatever the number of beams
    window: int | None  # no more target tokens than this are kept; None: all


def parameters_by_part(model: Transformer) -> dict[str, int]:
    """Number of parameters of each part, in the order in which a sentence passes; tied ones count once, where first."""
    counts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        counts[_part(name, model.config.tie_embeddings)] += parameter.numel()
    return dict(counts)


def attention_sites(model: Transformer) -> list[AttentionSite]:
    """All attention sublayers: the encoder's, then the decoder's two kinds, first layer first."""
    found = []
    for site, module in attentions(model).items():
        kind, _, layer = site.partition(".")
        pattern = getattr(model.config, f"{kind}_attention").pattern()
        pruned = tuple(model.config.pruned_heads.get(site, ()))
        sizes = (module.n_heads, module.n_kv_heads, module.head_dim)
        found.append(AttentionSite(_KINDS[kind], int(layer), *sizes, **pattern, pruned=pruned))
    return found


def cache_size(sites: list[AttentionSite]) -> CacheSize:
    """What decoding keeps between steps; encoder attention keeps nothing."""
    own, cross = ([site for site in sites if site.kind == _KINDS[kind]] for kind in ("decoder", "cross"))
    windows = [site.window for site in own if site.window is not None]
    return CacheSize(
        target_token=sum(site.kv_bytes for site in own),
        source_token=sum(site.kv_bytes for site in cross),
        window=max(windows) - 1 if own and len(windows) == len(own) else None,
    )


def describe(model: Transformer, config: Mapping[str, Any], metrics: Mapping[str, Any]) -> list[str]:
    """All of it as lines, with the settings and scores that the bundle's config.json and metrics.json hold."""
    parts = parameters_by_part(model)
    total = sum(parts.values())
    sites = attention_sites(model)
    size = cache_size(sites)
    kept = "" if size.window is None else f", the last {size.window} tokens are kept"
    before = ", before heads were pruned" if model.config.pruned_heads else ""
    settings = {**config["model"], **{f"tokenizer {name}": value for name, value in config["tokenizer"].items()}}
    scores: list[Row] = [
        (split, key, f"{found[key]:.2f}", signature)
        for split, found in metrics.items()
        if isinstance(found, Mapping)
        for key, signature in found.get("signature", {}).items()
    ]
    work = {length: multiply_adds_per_token(model.config, length, length) for length in LENGTHS}
    sections: dict[str, list[Row]] = {
        f"{config['source']} to {config['target']}, {total:,} parameters": [
            (part, f"{count:,}", f"{count / total:.1%}") for part, count in parts.items()
        ],
        "configuration": [(name, _plain(value)) for name, value in settings.items()],
        "attention": list(_site_rows(sites)),
        "kv-cache in float32": [
            ("bytes a target token", f"{size.target_token:,}", f"in each beam{kept}"),
            ("bytes a source token", f"{size.source_token:,}", "once a sentence, all beams share it"),
        ],
        f"multiply-adds a token{before}": [
            (f"sentences of {length}", f"{source:,.0f}", "a source token", f"{target:,.0f}", "a target token")
            for length, (source, target) in work.items()
        ],
        "scores": scores or [("none: the training has not finished",)],
    }
    lines = []
    for title, rows in sections.items():
        table = aligned(rows, right=lambda column: all(cell[:1].isdigit() for cell in column))
        lines += ["", title, *(f"  {line}" for line in table)]
    return lines[1:]


def _part(name: str, tying: str) -> str:
    first, _, rest = name.partition(".")
    if first in ("encoder", "decoder"):
        return f"{first} {_SUBLAYERS.get(rest.split('.')[1], 'norms')}"
    if rest.startswith("learned"):
        return "learned positions"
    if tying == "all" and first == "src_embeddings":
        return "embeddings (source, target and output are one)"
    return _OUTSIDE[first] + (" (and output)" if tying == "decoder" and first == "tgt_embeddings" else "")


def _site_rows(sites: list[AttentionSite]) -> Iterator[Row]:
    """A row for each run of layers that are alike."""
    for _, alike in groupby(sites, key=lambda site: replace(site, layer=0)):
        first, *others = alike
        layers = f"layers {first.layer} to {others[-1].layer}" if others else f"layer {first.layer}"
        heads = f"{first.n_heads} heads of {first.head_dim}"
        if first.pruned:
            heads += f", without {', '.join(map(str, first.pruned))}"
        yield first.kind, layers, heads, f"{first.n_kv_heads} for keys and values", first.sees


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(entry)}" for name, entry in value.items())
    return "-" if value is None else str(value)
