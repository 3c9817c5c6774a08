"""The splits of the corpus: which sentences each may hold, and how they are drawn."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from zlib import crc32

from . import write_english, write_german
from .company import VERBS, nouns_of
from .dice import Dice
from .linked import as_text, links_between
from .patterns import clauses_of, heads, sentence
from .sentence import Sentence

SPLITS = ("train", "valid", "test", "test_unseen")
# Of eight shares of all sentences valid and test own one each, train the rest; so they can never meet.
SHARES = 8
OWNED_SHARES = {"valid": (0,), "test": (1,), "train": tuple(range(2, SHARES))}
HELD_OUT_EVERY = 9


@dataclass(frozen=True)
class Pair:
    """An English line, its German line, and links between their blank-separated words, zero-based."""

    source: str
    target: str
    links: tuple[tuple[int, int], ...]


@cache
def held_out_pairs() -> frozenset[tuple[str, str, str]]:
    """The (verb, role, noun) triples that only test_unseen may hold.

    They are every ninth noun of a verb's company, except where a noun would lose more than a fifth of
    its own.
    """
    company = _company()
    meets = Counter(noun for nouns in company.values() for noun in nouns)
    held: list[tuple[str, str, str]] = []
    lost: Counter[str] = Counter()
    for shift, ((verb, role), nouns) in enumerate(company.items()):
        for index, noun in enumerate(nouns):
            if (index + 4 * shift) % HELD_OUT_EVERY == 0 and len(nouns) > 4 and 5 * (lost[noun] + 1) <= meets[noun]:
                lost[noun] += 1
                held.append((verb, role, noun))
    return frozenset(held)


def _company() -> dict[tuple[str, str], list[str]]:
    """The nouns that each verb can have as subject and as object."""
    company: dict[tuple[str, str], dict[str, None]] = {}
    for verb in VERBS.items:
        for role, kinds in (("subject", verb.who), ("object", verb.what)):
            for noun in nouns_of(kinds).items:
                company.setdefault((verb.name, role), {})[noun.en] = None
    return {key: list(nouns) for key, nouns in company.items()}


def word_pairs(s: Sentence) -> Iterator[tuple[str, str, str]]:
    """The (verb, role, noun) triples of a sentence."""
    for c in clauses_of(s):
        for noun in heads(c.subject):
            yield c.verb.name, "subject", noun
        for noun in heads(c.object):
            yield c.verb.name, "object", noun


def is_unseen(s: Sentence) -> bool:
    """Whether the sentence puts together a verb and a noun that training never shows together."""
    return not held_out_pairs().isdisjoint(word_pairs(s))


def generate(split: str, size: int, seed: int) -> list[Pair]:
    """`size` distinct pairs of a split; the same for the same arguments, everywhere.

    No two splits share a source line, whatever their sizes and seeds: a line's checksum says which of
    train, valid and test it belongs to, and test_unseen holds exactly the sentences that contain one of
    `held_out_pairs()`.

    Raises:
        ValueError: no such split.
    """
    if split not in SPLITS:
        raise ValueError(f"no split '{split}'; there are {', '.join(SPLITS)}")
    dice = Dice(f"{split} {seed}")
    found: dict[str, Pair] = {}
    while len(found) < size:
        s = sentence(dice)
        if is_unseen(s) != (split == "test_unseen"):
            continue
        english = write_english.write(s)
        source = as_text(english)
        if source in found or not _owns(split, source):
            continue
        german = write_german.write(s)
        found[source] = Pair(source, as_text(german), links_between(english, german))
    return list(found.values())


def _owns(split: str, source: str) -> bool:
    return split == "test_unseen" or crc32(source.encode()) % SHARES in OWNED_SHARES[split]
