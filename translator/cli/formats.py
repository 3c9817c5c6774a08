"""A translation as lines of output: text, tsv or json."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from translator.alignment.links import pharaoh
from translator.inference.options import TranslateOptions

if TYPE_CHECKING:
    from translator.inference.translation import Translation


@dataclass(frozen=True)
class Layout:
    """What a line of output holds; ``links_inline`` is False where links go to a file of their own."""

    format: str = "text"
    scores: bool = False
    n_best: bool = False
    links: bool = False
    soft: bool = False
    links_inline: bool = True

    @classmethod
    def of(cls, options: TranslateOptions, format: str, scores: bool, links_inline: bool) -> "Layout":
        """The layout that fits the options."""
        links, soft = options.alignments is not None, options.alignments == "soft"
        return cls(format, scores, options.n_best > 1, links, soft, links_inline)


def lines_of(translation: "Translation", index: int, source: str, layout: Layout) -> list[str]:
    """The output of source line ``index`` (from 0): one line, or one a candidate in text and tsv n-best lists."""
    if layout.format == "json":
        candidates = [_plain(entry, layout) for entry in translation.n_best]
        record = {"id": index, "source": source, **_plain(translation, layout), "n_best": candidates}
        return [json.dumps(record, ensure_ascii=False, allow_nan=False)]
    return [_line(entry, index, source, layout) for entry in _entries(translation, layout)]


def link_lines(translation: "Translation", layout: Layout) -> list[str]:
    """The links alone, a line for each line of `lines_of`."""
    return [_links(entry, layout) for entry in _entries(translation, layout)]


def _entries(translation: "Translation", layout: Layout) -> Sequence["Translation"]:
    """What has a line of its own: the translation, or each of its candidates."""
    return translation.n_best if layout.n_best and layout.format != "json" else [translation]


def _line(entry: "Translation", index: int, source: str, layout: Layout) -> str:
    score = f"{entry.score + 0.0:.6f}"
    links = [_links(entry, layout)] if layout.links and layout.links_inline else []
    if layout.format == "tsv":
        return "\t".join([str(index), source.replace("\t", " "), entry.text, score, *links])
    if layout.n_best:
        return " ||| ".join([str(index), entry.text, score, *links])
    return " ||| ".join([f"{score}\t{entry.text}" if layout.scores else entry.text, *links])


def _links(entry: "Translation", layout: Layout) -> str:
    return pharaoh(entry.alignment or [], (entry.weights or []) if layout.soft else None)


def _plain(entry: "Translation", layout: Layout) -> dict[str, Any]:
    links: list[list[float]] | None = None if entry.alignment is None else [[*pair] for pair in entry.alignment]
    if links is not None and layout.soft:
        links = [[*pair, round(weight, 6)] for pair, weight in zip(links, entry.weights or [], strict=True)]
    plain = {"translation": entry.text, "score": entry.score, "tokens": entry.tokens}
    return {**plain, "alignment": links, "finished": entry.finished}
