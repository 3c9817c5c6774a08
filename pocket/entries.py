"""What the lexicon knows about a word: its forms in both languages and its company; a field is a column of its table.

A *kind* is a word such as `person` or `fragile` that says what a noun can do or undergo. Verbs and
adjectives name the kinds they accept, so that only sensible sentences arise.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Gender = Literal["m", "f", "n", "pl"]
Case = Literal["nom", "acc", "dat"]


@dataclass(frozen=True)
class Noun:
    """A noun with its forms; `de_oblique` is the singular accusative and dative (weak nouns differ).

    The first of its `kinds` is its sort, and every noun is a kind of its own, too. A spot names the preposition (a row
    of their table) with which one is at the noun, the last one perhaps the one with which one gets there.
    """

    en: str
    en_plural: str
    gender: Gender
    de: str
    de_oblique: str
    de_plural: str
    kinds: tuple[str, ...]
    spots: tuple[str, ...]

    @cached_property
    def all_kinds(self) -> frozenset[str]:
        """The kinds with its own name, hyphens for blanks."""
        return frozenset((*self.kinds, self.en.replace(" ", "-")))

    def has(self, *kinds: str) -> bool:
        """Whether the noun is of any of these kinds."""
        return not self.all_kinds.isdisjoint(kinds)

    @property
    def sort(self) -> str:
        """What it is in the first place: person, animal, thing, place, ..."""
        return self.kinds[0]

    @property
    def plural_only(self) -> bool:
        """Whether the noun has no singular (parents)."""
        return self.gender == "pl"


@dataclass(frozen=True)
class Adjective:
    """An adjective; `stem` takes the endings (teuer: teur-), no comparative where it would be odd."""

    en: str
    en_more: str
    de: str
    stem: str
    de_more: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Idiom:
    """Words that are translated as a block; `links` (`0-1`) join their words, zero-based within the block."""

    en: str
    de: str
    links: tuple[str, ...]
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preposition:
    """An English preposition, its German counterpart, and the case that the latter takes here.

    English "at" is "an" or "auf" by the noun, so that some have several names; `use` is whether a noun's spots name it
    as where one is ("at") or the way to it ("to").
    """

    name: str
    en: str
    de: str
    case: Case
    use: Literal["at", "to", ""]


@dataclass(frozen=True)
class Verb:
    """A verb with its forms, its government, and its company.

    `particle` moves behind an English pronoun (turn it on), `en_prep` does not (wait for it).
    `prefix` is the separable part in German. `de_prep` governs the object (auf den Bus warten).
    The selectors name kinds: `who` does it to `what`, `where` it happens, where it `goes`. `mood` holds states of the
    subject that are a reason for the deed, `trait` qualities of the object that are one.
    """

    en: str
    particle: str
    en_prep: str
    past: str
    ing: str
    prefix: str
    de: str
    er: str
    participle: str
    aux: Literal["haben", "sein"]
    preterite: str
    de_prep: str
    case: Case
    who: tuple[str, ...]
    what: tuple[str, ...]
    where: tuple[str, ...]
    goes: tuple[str, ...]
    how: tuple[str, ...]
    mood: tuple[str, ...]
    trait: tuple[str, ...]
    marks: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """The English verb with what belongs to it: turn on, wait for."""
        return " ".join(filter(None, (self.en, self.particle, self.en_prep)))

    def marked(self, mark: str) -> bool:
        """Whether the verb carries this mark.

        `stative` has no -ing form, `state` is no single deed (no "every day", no "often", no modal), `lasting` takes a
        while, `moment` does not, `optional` can do without its object, `recipient`, `with`, `for` take such a person,
        `home` goes with "at home" or "home", `onto` is the way it goes, `placed` needs a place, `no-past`, `no-modal`,
        `no-who`, `no-where` (as questions) would be odd.
        """
        return mark in self.marks


@dataclass(frozen=True)
class Modal:
    """A modal verb in English and its German present and preterite.

    `full` is the full verb that stands for it with "to", always (want) or in the past (have for must).
    """

    name: str
    en: str
    past: str
    singular: str
    plural: str
    preterite: str
    full: str


@dataclass(frozen=True)
class PronounForms:
    """A personal pronoun as object, and its possessive, in both languages; German has three for "it"."""

    name: str
    en_object: str
    en_possessive: str
    nom: str
    acc: str
    dat: str
    de_possessive: str
