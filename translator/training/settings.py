"""From the composed settings, plain nested dicts, to what the parts of a training take."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from translator.data.tokenizer import Tokenizer
from translator.errors import UserError

ATTENTION_KINDS = ("mha", "gqa", "mqa", "window", "strided", "topk")
_NUMBERS = {"gqa": "n_kv_heads", "window": "window", "strided": "stride", "topk": "top_k"}
#: Which kinds take a number.
_TAKERS = {
    "n_kv_heads": ("gqa", "window", "strided", "topk"),
    "window": ("window",),
    "stride": ("strided",),
    "top_k": ("topk",),
}
SITES = ("encoder", "decoder", "cross")


def run_name(settings: Mapping[str, Any]) -> str:
    """The folder's name: as given, else the corpus and the language pair; in a sweep with what is swept.

    Raises:
        UserError: the name would leave the folder of checkpoints.
    """
    data = settings["data"]
    corpus = Path(str(data.get("path"))).name if data["kind"] == "hub" else data["kind"]
    default = (
        "pocket" if (corpus, data["source"]) == ("pocket", "en") else f"{corpus}-{data['source']}-{data['target']}"
    )
    name = str(settings["name"] or default)
    if settings["variant"]:
        name += f"_{settings['variant']}"
    if name in (".", "..") or re.search(r"[/\\\\\0]", name):
        raise UserError(f"name={name} must be a plain folder name; the folder above it is set by checkpoints=...")
    return name


def absolute_paths(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data settings with paths that hold wherever the next command is typed."""

    def absolute(value: Any) -> Any:
        if isinstance(value, list):
            return [absolute(item) for item in value]
        return str(Path(value).absolute()) if isinstance(value, str) else value

    keys = {"multi30k": ("root",), "files": ("train", "valid", "test")}.get(data["kind"], ())
    local_hub = data["kind"] == "hub" and Path(str(data["path"])).exists()
    keys += ("path",) if local_hub else ()
    return {key: absolute(value) if key in keys else value for key, value in data.items()}


def model_settings(settings: Mapping[str, Any], tokenizer: Tokenizer) -> dict[str, Any]:
    """The model's settings with what only the tokenizer and the choice of attention can tell.

    Raises:
        UserError: as `check_numbers` and `attention_site`.
    """
    check_numbers(settings["attention"])
    ids = {name: getattr(tokenizer, name) for name in ("pad_id", "unk_id", "bos_id", "eos_id")}
    sites = {f"{site}_attention": attention_site(settings["attention"], site) for site in SITES}
    return {**settings["model"], **sites, **ids, "vocab_size": tokenizer.vocab_size}


def check_numbers(attention: Mapping[str, Any]) -> None:
    """Raise UserError where a number is given that no site's kind takes: it would change nothing without a word."""
    kinds = {attention[site] or attention["kind"] for site in SITES}
    for number, takers in _TAKERS.items():
        if attention.get(number) is not None and kinds.isdisjoint(takers):
            raise UserError(
                f"attention.{number}={attention[number]} would change nothing: it belongs to attention="
                f"{', '.join(takers)}, and here is {', '.join(sorted(kinds))}; leave it out, or change the kind"
            )


def attention_site(attention: Mapping[str, Any], site: str) -> dict[str, int | None]:
    """The kind of attention at one site, its own where one is named, as numbers.

    A pattern that is common to all sites leaves cross-attention whole where it compares positions.

    Raises:
        UserError: an unknown kind, one that lacks its number, or a pattern of positions for cross-attention.
    """
    kind = attention[site] or attention["kind"]
    if kind not in ATTENTION_KINDS:
        raise UserError(f"attention for {site} must be one of {', '.join(ATTENTION_KINDS)}, not {kind!r}")
    shared = 1 if kind == "mqa" else None if kind == "mha" else attention["n_kv_heads"]
    if kind in ("window", "strided") and site == "cross":
        if attention[site]:
            raise UserError(
                f"attention.cross={kind} has no meaning: positions of two sentences cannot be compared; "
                "choose mha, gqa, mqa or topk"
            )
        return {"n_kv_heads": shared, "window": None, "stride": None, "top_k": None}
    wanted = _NUMBERS.get(kind)
    if wanted and attention.get(wanted) is None:
        raise UserError(f"attention={kind} needs attention.{wanted}=...")
    pattern = {key: attention[key] if key == wanted else None for key in ("window", "stride", "top_k")}
    return {"n_kv_heads": shared, **pattern}
