"""The last stage: the candidates of a line's parts -> one translation."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from translator.alignment.links import Link
from translator.data.tokenizer import USER_WORD
from translator.inference.encoding import Part
from translator.inference.translation import Translation

#: White space that stays as it is between parts; any other kind becomes a space, so that a line stays one line.
_KEPT = " \u00a0\u3000"


def join(parts: Sequence[Part], candidates: Sequence[Sequence[Translation]], subwords: bool) -> Translation:
    """A line from the candidates of its parts: the k-th of each part make up the k-th of the line.

    A part with fewer candidates repeats its last. Between the texts stands what stood between the parts, a space where
    nothing did, and nothing where two characters meet that are written without spaces. With ``subwords``, links count
    pieces.
    """
    if len(parts) == 1:
        return replace(candidates[0][0], n_best=list(candidates[0]))
    n_best = [
        _concatenate(parts, [of_part[min(rank, len(of_part) - 1)] for of_part in candidates], subwords)
        for rank in range(max(map(len, candidates)))
    ]
    return replace(n_best[0], n_best=n_best)


def _concatenate(parts: Sequence[Part], chosen: Sequence[Translation], subwords: bool) -> Translation:
    text, tokens, links = "", list[str](), list[Link]()
    for part, translation in zip(parts, chosen, strict=True):
        space = _space(text, translation.text, part.before)
        # Words are counted at spaces: where there is none the last word so far goes on.
        words = len(USER_WORD.findall(text + space)) - (text != "" and not set(space) & {" "})
        links += [(s, t + (len(tokens) if subwords else words)) for s, t in translation.alignment or []]
        text += space + translation.text
        tokens += translation.tokens
    aligned = chosen[0].alignment is not None
    return Translation(
        text=text,
        score=sum(translation.score for translation in chosen) / len(chosen),
        tokens=tokens,
        alignment=links if aligned else None,
        weights=[w for translation in chosen for w in translation.weights or []] if aligned else None,
        finished=all(translation.finished for translation in chosen),
    )


def _space(left: str, right: str, before: str) -> str:
    """What stands between two texts."""
    if not left or not right:
        return ""
    unspaced = all(unicodedata.east_asian_width(char) in "WF" for char in (left[-1], right[0]))
    return "".join(char if char in _KEPT else " " for char in before) or ("" if unspaced else " ")
