"""Who goes together with whom: the kinds that the lexicon names, resolved to lists of words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from .dice import Dice
from .entries import Adjective, Noun, Preposition, Verb
from .lexicon import ADJECTIVES, NOUN, NOUNS, PREPOSITION
from .lexicon import VERBS as ALL_VERBS

T = TypeVar("T")


@dataclass(frozen=True)
class Choice(Generic[T]):
    """Words to choose from, with the names under which their use is counted."""

    items: Sequence[T]
    names: Sequence[str]

    @classmethod
    def of(cls, items: Sequence[T], name: Callable[[T], str]) -> "Choice[T]":
        """Name every item once, so that choosing is quick."""
        return cls(items, [name(item) for item in items])

    def draw(self, dice: Dice) -> T:
        """One that has been used little so far."""
        return dice.seldom(self.items, self.names)


def _verbs(verbs: Sequence[Verb]) -> Choice[Verb]:
    return Choice.of(verbs, lambda verb: f"{verb.name} {verb.what or verb.who}")


@cache
def nouns_of(kinds: tuple[str, ...]) -> Choice[Noun]:
    """All nouns of any of these kinds, in the order of the lexicon."""
    return Choice.of([noun for noun in NOUNS if noun.has(*kinds)], lambda noun: noun.en)


@cache
def adjectives_of(noun_name: str) -> Choice[Adjective]:
    """All adjectives that suit a noun."""
    suited = [adjective for adjective in ADJECTIVES if NOUN[noun_name].has(*adjective.kinds)]
    return Choice.of(suited, lambda adjective: adjective.en)


@cache
def spots_of(kinds: tuple[str, ...]) -> Choice[tuple[Preposition, Noun]]:
    """All ways to be at nouns of these kinds; `bed@in` is only "in bed", never under it."""
    found = [
        (PREPOSITION[spot], noun)
        for kind in kinds
        for noun in nouns_of((kind.partition("@")[0],)).items
        for spot in noun.spots
        if PREPOSITION[spot].use == "at" and kind.partition("@")[2] in ("", spot)
    ]
    return Choice.of(found, lambda spot: spot[1].en)


def _done_by_people(verb: Verb) -> bool:
    return not verb.marked("no-who") and any(noun.has("person") for noun in nouns_of(verb.who).items)


VERBS = _verbs(ALL_VERBS)
LASTING = _verbs([verb for verb in VERBS.items if verb.marked("lasting") and not verb.marked("no-who")])
MOMENTS = _verbs([verb for verb in VERBS.items if verb.marked("moment") and not verb.marked("no-who")])
MOODY = _verbs([verb for verb in VERBS.items if verb.mood])
TRAITED = _verbs([verb for verb in VERBS.items if verb.trait])
WHO_VERBS = _verbs([verb for verb in VERBS.items if _done_by_people(verb)])
OBJECT_VERBS = _verbs([verb for verb in VERBS.items if verb.what and not verb.de_prep and not verb.marked("optional")])
PLACED = _verbs([v for v in VERBS.items if (v.where or v.goes) and not v.marked("onto") and not v.marked("no-where")])
PEOPLE = nouns_of(("person",))
RELATED = _verbs([verb for verb in VERBS.items if not verb.marked("no-who")])
