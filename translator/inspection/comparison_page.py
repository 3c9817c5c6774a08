"""Trainings compared, as a page that needs no other: the commands, the table and how to read it, what was trained."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from translator.bundle import METRICS, SETTINGS, read_config
from translator.data.parallel import ParallelText
from translator.files import read_json
from translator.inspection.comparison import Variant
from translator.inspection.tables import markdown_table

PICTURE = "comparison.png"
#: Parts of a training's settings that shape what comes out. The choice of attention stands in the model.
_PARTS = ("data", "tokenizer", "model", "optimizer", "schedule", "batch", "trainer", "label_smoothing", "init_from")
_HOW_TO_READ = """
- BLEU is the mean over the seeds ± their sample standard deviation, on {sentences} sentences of {split}
  (`{signature}`), searched with `{search}`.
- p is of sacreBLEU's paired bootstrap against the first variant (Koehn 2004), one for each seed that both have: how
  often so large a difference comes about by the choice of sentences alone. It says nothing of the choice of seeds.
- Keys and values are counted in float32 over all layers: of a target token in each beam, of a source token once. A
  window also bounds how many target tokens are kept.
- Speeds are medians over the seeds, of real source and target tokens: of the whole training without its validations,
  and of this translating, one bundle after the other.
"""


def page(variants: Sequence[Variant], text: ParallelText, split: str, made: str) -> list[str]:
    """Lines of Markdown; ``made`` says by which command and where the comparison itself was made."""
    first = variants[0].runs[0]
    search = _listed(_flat(read_config(first.directory).get("decode", {})))
    how = _HOW_TO_READ.format(sentences=len(text.sources), split=split, signature=first.signature, search=search)
    return [
        f"# {len(variants)} variants compared",
        "",
        f"Made by {made}.",
        "",
        *_compared(variants),
        "",
        f"![BLEU, and the memory of keys and values, by variant]({PICTURE})",
        *how.splitlines(),
        "",
        "## How they were trained",
        "",
        *_trainings(variants),
    ]


def _compared(variants: Sequence[Variant]) -> list[str]:
    """A table, a variant a row."""
    head = (
        "variant", "seeds", "BLEU", "p against the first", "parameters", "KV bytes a target / source token",
        "trained, tokens/s", "decoded, tokens/s",
    )  # fmt: skip
    rows = [
        (
            f["variant"], str(len(f["seeds"])), f"{f['bleu']:.2f} ± {f['bleu_deviation']:.2f}",
            ", ".join(f"{p:.3f}" for p in f["p_values"]) or "-", f"{f['parameters']:,}",
            f"{f['kv_bytes_target_token']:,} / {f['kv_bytes_source_token']:,}",
            f"{f['train_tokens_per_second']:,.0f}", f"{f['decode_tokens_per_second']:,.0f}",
        )
        for f in (variant.figures() for variant in variants)
    ]  # fmt: skip
    return markdown_table(head, rows, "| --- |" + " ---: |" * (len(head) - 1))


def _trainings(variants: Sequence[Variant]) -> Iterator[str]:
    """The commands, what they took, and the settings, each as far as the bundles tell."""
    metrics = {variant.name: [read_json(run.directory / METRICS) for run in variant.runs] for variant in variants}
    commands = dict.fromkeys(one["command"] for runs in metrics.values() for one in runs if "command" in one)
    yield from (*_block([*commands]), "") if commands else ()
    shared, own = _settings(variants)
    head = ("variant", "epochs", "updates", "minutes a seed", "precision", "threads", "torch", "its own settings")
    rows = []
    for name, runs in metrics.items():
        told = [str(runs[0].get(key, "-")) for key in ("epochs", "updates", "precision", "threads")]
        told.insert(2, f"{statistics.median(run.get('seconds', 0.0) for run in runs) / 60:.1f}")
        torch = runs[0].get("versions", {}).get("torch", "-")
        rows.append([name, *told, torch, _listed(own[name]) or "-"])
    yield from markdown_table(head, rows, "|---|---:|---:|---:|---|---:|---|---|")
    if shared:
        yield from ("", "Settings that all share:", "")
        lines = groupby(shared.items(), key=lambda item: item[0].partition(".")[0])
        yield from _block([_listed(dict(of_part)) for _, of_part in lines])


def _settings(variants: Sequence[Variant]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Settings that all variants share, and those of each that another one lacks; of bundles without them, none."""
    paths = {variant.name: variant.runs[0].directory / SETTINGS for variant in variants}
    kept = {name: read_json(path) if path.is_file() else {} for name, path in paths.items()}
    flat = {name: _flat({part: values.get(part) for part in _PARTS}) for name, values in kept.items()}
    first = flat[variants[0].name]
    shared = {key: value for key, value in first.items() if all(one.get(key) == value for one in flat.values())}
    own = {name: {key: value for key, value in one.items() if key not in shared} for name, one in flat.items()}
    return shared, own


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested settings by dotted names; what is not set is left out."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{above}{key}.")
        elif value is not None:
            found[f"{above}{key}"] = value
    return found


def _listed(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _block(lines: Sequence[str]) -> list[str]:
    return ["```", *lines, "```"]
