"""One HTML page that shows all attention of some pairs: complete in itself, so that it opens from a file, offline.

Nothing that a user wrote can become mark-up: texts stand in one block of JSON in which no character that means
something to HTML is left, and the page's script puts them in place as text. The page's policy names its own script
and style by their hashes, so a browser runs no other and asks nobody for anything.
"""

import base64
import hashlib
import html
import json
import re
import struct
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from torch import Tensor

from translator.inspection.pair import PairAttention, words_of

#: The number that stands for a weight of 1: two bytes a weight are exact to 0.00001.
WHOLE = 65535

#: Joined in this order into one script: a file opened from a disk may load no modules.
_SCRIPTS = ("state", "weights", "elements", "links", "grid", "matrix", "choices", "keyboard", "listening")
_MARK_UP = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def build_page(pairs: Sequence[PairAttention], name: str, languages: tuple[str, str] = ("", "")) -> str:
    """The page as text; ``name`` says whose attention it is, ``languages`` are those of source and target."""
    style, script = _asset("page.css"), "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    values = {"name": name, "languages": list(languages), "pairs": [pair_values(pair) for pair in pairs]}
    parts = {
        "title": html.escape(f"Attention of {name}"),
        "policy": html.escape(_policy(style, script)),
        "style": style,
        "data": safe_json(values),
        "script": script,
    }
    # In one pass: what a user wrote is never searched for places.
    return _PLACE.sub(lambda place: parts[place[1]], _asset("template.html"))


def pair_values(pair: PairAttention) -> dict[str, Any]:
    """What the page knows of a pair, as plain values; weights as in `pack`, one text a layer."""
    kinds = {"cross": pair.layers, "encoder": pair.encoder, "decoder": pair.decoder}
    weights = {kind: [{"heads": len(layer), "packed": pack(layer)} for layer in of] for kind, of in kinds.items()}
    first, *others = pair.reading.places
    reading: dict[str, Any] = {"layer": first.layer, "heads": list(first.heads)}
    if others:  # their mean joins the layers as one more, with a name of its own
        reading = {"layer": len(pair.layers), "heads": [0]}
        weights["cross"].append({"heads": 1, "packed": pack(pair.mean()), "name": _layers(pair)})
    return {
        "source": _side(pair.source, pair.source_pieces, pair.source_words),
        "target": _side(pair.target, pair.target_pieces, pair.target_words),
        "begin": pair.begin,
        "reading": {**reading, "step": pair.reading.step},
        "weights": weights,
    }


def _layers(pair: PairAttention) -> str:
    """What the mean of several layers is called."""
    places = pair.reading.places
    whole = all(len(heads) == len(pair.layers[layer]) for layer, heads in places)
    numbers = "layers " + "+".join(str(layer) for layer, _ in places)
    return numbers if whole else f"{sum(len(heads) for _, heads in places)} heads of {numbers}"


def pack(weights: Tensor) -> str:
    """Weights from 0 to 1 in their order, each as a little-endian 16-bit number of 1/65535, in base64."""
    numbers = (weights.flatten().double().clamp(0, 1) * WHOLE).round().int().tolist()
    return base64.b64encode(struct.pack(f"<{len(numbers)}H", *numbers)).decode()


def safe_json(values: Any) -> str:
    """JSON that may stand inside a script element: it cannot end it, nor begin a comment or an entity."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).translate(_MARK_UP)


def _side(text: str, pieces: Sequence[str], word_of: Sequence[int]) -> dict[str, Any]:
    """One sentence: its pieces without the end of sentence, its words, and the word of each piece."""
    *own, end = pieces
    return {"text": text, "pieces": own, "end": end, "words": words_of(text), "word_of": list(word_of)}


def _asset(name: str) -> str:
    return (files("translator.inspection.page") / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """A content security policy that allows these two texts and nothing else."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    style_src, script_src = (f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src {style_src}; script-src {script_src}; img-src data:"
