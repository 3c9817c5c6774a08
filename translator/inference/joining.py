"""From what the search found back to one translation a line."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from translator.alignment.links import Alignment, Link, Side, drop_last_column, extract, extract_words
from translator.data.tokenizer import Tokenizer
from translator.decoding.hypothesis import Hypothesis
from translator.inference.segmentation import Part


@dataclass(frozen=True)
class Translation:
    """One line's translation.

    ``score`` is sum log p / length ** length_penalty, the end of sentence counted in both; of a line that was split
    it is the mean over its parts; of a blank line 0. ``tokens`` are the pieces that were produced. ``alignment``
    holds (source, target) links when they were asked for, ``weights`` their attention weights. ``finished`` is False
    where the output was cut at the length limit. ``n_best`` lists the best candidates, best first, this one included;
    they differ as token sequences (two may read the same), and are fewer than asked for where the search found fewer.
    """

    text: str
    score: float
    tokens: list[str]
    alignment: list[Link] | None = None
    n_best: list["Translation"] = field(default_factory=list)
    weights: list[float] | None = None
    finished: bool = True


def blank(aligned: bool) -> Translation:
    """The translation of a line without words."""
    empty = Translation("", 0.0, [], [] if aligned else None, weights=[] if aligned else None)
    return replace(empty, n_best=[empty])


def translation_of(hypothesis: Hypothesis, tokenizer: Tokenizer, alignment: Alignment | None) -> Translation:
    """One candidate for one part, as text."""
    ids = list(hypothesis.ids)
    return Translation(
        text=tokenizer.decode(ids),
        score=hypothesis.score,
        tokens=tokenizer.pieces(ids),
        alignment=None if alignment is None else alignment.links,
        weights=None if alignment is None else alignment.weights,
        finished=hypothesis.finished,
    )


def align_part(
    part: Part, hypothesis: Hypothesis, weights: Tensor, tokenizer: Tokenizer, mode: str | float, subwords: bool
) -> Alignment:
    """Links of a part and its hypothesis from weights (T, S + 1).

    Source indices count from the start of the line, target indices from the start of the part.
    """
    units = drop_last_column(weights)
    if subwords:
        return extract(units, mode, source_start=part.start)
    rows = target_words(hypothesis.ids, tokenizer)
    if not rows:
        return Alignment([], [])
    first = min(part.words)
    source = Side([word - first for word in part.words], tokenizer.lettered(part.ids))
    return extract_words(units, source, Side(rows, tokenizer.lettered(hypothesis.ids)), mode, source_start=first)


def target_words(ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """The word of each produced piece, as an index into the decoded text split at spaces.

    Read off the decoded prefixes, so that it holds for boundary marks that stand alone and for pieces that leave no
    trace in the text. Empty where the text is.
    """
    text = tokenizer.decode(list(ids))
    if not text:
        return []
    last = text.count(" ")
    return [min(tokenizer.decode(list(ids[: end + 1])).count(" "), last) for end in range(len(ids))]


def join(candidates: Sequence[Sequence[Translation]], subwords: bool) -> Translation:
    """A line from the candidates of its parts: the k-th of each part make up the k-th of the line.

    A part with fewer candidates repeats its last. Texts are joined with a space.
    """
    n_best = [
        _concatenate([of_part[min(rank, len(of_part) - 1)] for of_part in candidates], subwords)
        for rank in range(max(map(len, candidates)))
    ]
    return replace(n_best[0], n_best=n_best)


def _concatenate(parts: Sequence[Translation], subwords: bool) -> Translation:
    if len(parts) == 1:
        return parts[0]
    links: list[Link] = []
    before = 0
    for part in parts:
        links += [(s, t + before) for s, t in part.alignment or []]
        before += len(part.tokens) if subwords else len(part.text.split())
    aligned = parts[0].alignment is not None
    return Translation(
        text=" ".join(part.text for part in parts if part.text),
        score=sum(part.score for part in parts) / len(parts),
        tokens=[token for part in parts for token in part.tokens],
        alignment=links if aligned else None,
        weights=[w for part in parts for w in part.weights or []] if aligned else None,
        finished=all(part.finished for part in parts),
    )
