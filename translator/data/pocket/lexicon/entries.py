"""What the lexicon knows about a word: its forms in both languages and its company.

A *kind* is a word such as `person` or `fragile` that says what a noun can do or undergo. Verbs and
adjectives name the kinds they accept, so that only sensible sentences arise.
"""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n", "pl"]
Case = Literal["nom", "acc", "dat"]


@dataclass(frozen=True)
class Noun:
    """A noun with its forms; `de_oblique` is the singular accusative and dative (weak nouns differ)."""

    en: str
    en_plural: str
    de: str
    de_oblique: str
    de_plural: str
    gender: Gender
    sort: str
    kinds: frozenset[str]
    spots: tuple[str, ...] = ()

    def has(self, *kinds: str) -> bool:
        """Whether the noun is of any of these kinds."""
        return not self.kinds.isdisjoint(kinds)

    @property
    def plural_only(self) -> bool:
        """Whether the noun has no singular (parents)."""
        return self.gender == "pl"


@dataclass(frozen=True)
class Adjective:
    """An adjective; `stem` takes the endings (teuer: teur-), no comparative where it would be odd."""

    en: str
    de: str
    stem: str
    en_more: str
    de_more: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Idiom:
    """Words that are translated as a block; `links` join their words, zero-based within the block."""

    en: str
    de: str
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Preposition:
    """An English preposition, its German counterpart, and the case that the latter takes here."""

    en: str
    de: str
    case: Case


@dataclass(frozen=True)
class Verb:
    """A verb with its forms, its government, and its company.

    `particle` moves behind an English pronoun (turn it on), `en_prep` does not (wait for it).
    `prefix` is the separable part in German. `de_prep` governs the object (auf den Bus warten).
    The selectors name kinds: `who` does it to `what`, `where` it happens, where it `goes`.
    """

    name: str
    en: str
    particle: str
    en_prep: str
    past: str
    ing: str
    de: str
    er: str
    participle: str
    aux: Literal["haben", "sein"]
    prefix: str = ""
    de_prep: str = ""
    case: Case = "acc"
    preterite: str = ""
    who: tuple[str, ...] = ()
    what: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    goes: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    mood: tuple[str, ...] = ()
    trait: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()

    def marked(self, trait: str) -> bool:
        """Whether the verb carries this mark (the verbs' own page explains them)."""
        return trait in self.traits


@dataclass(frozen=True)
class Modal:
    """A modal verb in English and its German present and preterite.

    `full` is the full verb that stands for it with "to", always (want) or in the past (have for must).
    """

    en: str
    past: str
    singular: str
    plural: str
    preterite: str
    full: str = ""
