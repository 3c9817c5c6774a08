"""Words that remember what they express, so that two lines can be aligned exactly.

A key names a piece of meaning by its place in the sentence (`1.object.noun`). Words of the two lines
that share a key are translations of each other.
"""

from typing import NamedTuple

from .entries import Idiom


class Word(NamedTuple):
    """One blank-separated word of a line and the keys of what it means."""

    text: str
    meaning: tuple[str, ...]


def words(text: str, *keys: str) -> list[Word]:
    """Each word of `text`, all with the same keys."""
    if " " in text:
        return [Word(part, keys) for part in text.split()]
    return [Word(text, keys)] if text else []


def idiom_words(idiom: Idiom, path: str, *, german: bool) -> list[Word]:
    """The words of a fixed phrase, keyed by its own links."""
    parts = (idiom.de if german else idiom.en).split()
    return [
        Word(part, tuple(f"{path}.{link}" for link in idiom.links if link.split("-")[german] == str(index)))
        for index, part in enumerate(parts)
    ]


def with_mark(line: list[Word], mark: str) -> list[Word]:
    """The line with a punctuation mark attached to its last word."""
    last = line[-1]
    return [*line[:-1], Word(last.text + mark, last.meaning)]


def as_text(line: list[Word]) -> str:
    """The line as text."""
    return " ".join(word.text for word in line)


def capitalised(line: list[Word]) -> list[Word]:
    """The line with its first letter in upper case."""
    first = line[0]
    return [Word(first.text[0].upper() + first.text[1:], first.meaning), *line[1:]]


def links_between(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    """All pairs of positions whose words share a piece of meaning."""
    places: dict[str, list[int]] = {}
    for j, word in enumerate(target):
        for key in word.meaning:
            places.setdefault(key, []).append(j)
    return tuple(sorted({(i, j) for i, word in enumerate(source) for key in word.meaning for j in places.get(key, ())}))
