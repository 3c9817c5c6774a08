"""Words that remember what they express, so that two lines can be aligned exactly.

A key names a piece of meaning by its place in the sentence (`1.object.noun`). Words of the two lines
that share a key are translations of each other.
"""

from dataclasses import dataclass

from .lexicon.entries import Idiom


@dataclass(frozen=True)
class Word:
    """One blank-separated word of a line."""

    text: str
    keys: frozenset[str]


def words(text: str, *keys: str) -> list[Word]:
    """Each word of `text`, all with the same keys."""
    return [Word(part, frozenset(keys)) for part in text.split()]


def idiom_words(idiom: Idiom, path: str, *, german: bool) -> list[Word]:
    """The words of a fixed phrase, keyed by its own links."""
    parts = (idiom.de if german else idiom.en).split()
    return [
        Word(part, frozenset(f"{path}.{link[0]}-{link[1]}" for link in idiom.links if link[german] == index))
        for index, part in enumerate(parts)
    ]


def with_mark(line: list[Word], mark: str) -> list[Word]:
    """The line with a punctuation mark attached to its last word."""
    last = line[-1]
    return [*line[:-1], Word(last.text + mark, last.keys)]


def as_text(line: list[Word]) -> str:
    """The line as text."""
    return " ".join(word.text for word in line)


def capitalised(line: list[Word]) -> list[Word]:
    """The line with its first letter in upper case."""
    first = line[0]
    return [Word(first.text[0].upper() + first.text[1:], first.keys), *line[1:]]


def links_between(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    """All pairs of positions whose words share a piece of meaning."""
    return tuple(
        (i, j)
        for i, source_word in enumerate(source)
        for j, target_word in enumerate(target)
        if not source_word.keys.isdisjoint(target_word.keys)
    )
