"""What a sentence says, free of either language: the structures that both grammars put into words."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, Union

from .entries import Adjective, Gender, Idiom, Modal, Noun, Preposition, PronounForms, Verb
from .lexicon import PRONOUN

Number = Literal["sg", "pl"]
Tense = Literal["present", "past", "future", "progressive"]


@dataclass(frozen=True)
class Determiner:
    """Words before a noun; `kind` decides the German ending class, `owner` names a possessor."""

    kind: Literal["the", "a", "this", "every", "which", "bare", "many", "how many", "number", "my", "name"]
    owner: "Phrase | None" = None
    name: str = ""
    number: str = ""

    @property
    def definite(self) -> bool:
        """Whether negation is "nicht" after the phrase, not "kein" inside it."""
        return self.kind not in ("a", "bare")


THE, A, THIS, EVERY = Determiner("the"), Determiner("a"), Determiner("this"), Determiner("every")
BARE, MANY, WHICH, HOW_MANY = Determiner("bare"), Determiner("many"), Determiner("which"), Determiner("how many")


@dataclass(frozen=True)
class NounPhrase:
    """Determiner, adjective, noun, and perhaps a relative clause."""

    noun: Noun
    determiner: Determiner = THE
    number: Number = "sg"
    adjective: Adjective | None = None
    relative: "Clause | None" = None


@dataclass(frozen=True)
class Name:
    """A person's first name."""

    text: str
    sex: Literal["he", "she"]


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun; German gives "it" the gender of the noun it stands for."""

    en: Literal["I", "you", "he", "she", "it", "we", "they"]
    gender: Gender = "n"

    @property
    def forms(self) -> PronounForms:
        """Its row in the table: sein Knochen, of the dog; ihr Ball, of the cat."""
        return PRONOUN[f"it-{self.gender}" if self.en == "it" else self.en]


@dataclass(frozen=True)
class Asked:
    """Who or what, as subject or object of a question."""

    en: Literal["who", "what"]


@dataclass(frozen=True)
class Relative:
    """The pronoun that opens a relative clause and stands for its noun."""

    noun: Noun
    number: Number


@dataclass(frozen=True)
class Unsaid:
    """A subject that the first half of the sentence has already named: "... and reads it"."""

    of: "Phrase"


@dataclass(frozen=True)
class Both:
    """Two phrases joined by "and"."""

    first: "Phrase"
    second: "Phrase"


Phrase: TypeAlias = Union["NounPhrase", "Name", "Pronoun", "Asked", "Relative", "Unsaid", "Both"]


@dataclass(frozen=True)
class Prepositional:
    """A preposition and what it governs."""

    preposition: Preposition
    phrase: Phrase


@dataclass(frozen=True)
class Quality:
    """An adjective after "to be"; with `than` a comparison, `equal` for "as old as"."""

    adjective: Adjective
    than: Phrase | None = None
    equal: bool = False


@dataclass(frozen=True)
class Clause:
    """A subject, its verb, and everything around it; `front` says what German puts first."""

    subject: Phrase
    verb: Verb
    tense: Tense = "present"
    modal: Modal | None = None
    negated: bool = False
    object: Phrase | None = None
    recipient: Phrase | None = None
    quality: Quality | None = None
    time: Idiom | None = None
    frequency: Idiom | None = None
    manner: Idiom | None = None
    companion: Prepositional | None = None
    place: Prepositional | Idiom | None = None
    goal: Prepositional | Idiom | None = None
    front: Literal["subject", "time", "object", "asked"] = "subject"
    asked: Idiom | None = None


@dataclass(frozen=True)
class Sentence:
    """One clause, or two that a conjunction joins; without one, the second is a sentence of its own."""

    first: Clause
    link: Idiom | None = None
    second: Clause | None = None
    question: bool = False
    subordinate_first: bool = False


def number_of(phrase: Phrase) -> Number:
    """Singular or plural, as the verb sees it."""
    if isinstance(phrase, Unsaid):
        return number_of(phrase.of)
    if isinstance(phrase, (NounPhrase, Relative)):
        return "pl" if phrase.noun.plural_only else phrase.number
    if isinstance(phrase, Pronoun):
        return "pl" if phrase.en in ("we", "they") else "sg"
    return "pl" if isinstance(phrase, Both) else "sg"


def person_of(phrase: Phrase) -> Literal[1, 2, 3]:
    """First, second or third person."""
    if isinstance(phrase, Unsaid):
        return person_of(phrase.of)
    if isinstance(phrase, Pronoun):
        return 1 if phrase.en in ("I", "we") else 2 if phrase.en == "you" else 3
    return 3


def pronoun_for(phrase: Phrase) -> Pronoun | None:
    """The pronoun that takes up a phrase; None where English or German would hesitate (the child)."""
    if isinstance(phrase, Unsaid):
        return pronoun_for(phrase.of)
    if isinstance(phrase, Pronoun):
        return phrase
    if number_of(phrase) == "pl":
        return Pronoun("they", "pl")
    if isinstance(phrase, Name):
        return Pronoun(phrase.sex)
    if isinstance(phrase, (NounPhrase, Relative)):
        return _singular_pronoun(phrase.noun)
    return None


def _singular_pronoun(noun: Noun) -> Pronoun | None:
    if noun.has("he"):
        return Pronoun("he")
    if noun.has("she"):
        return Pronoun("she")
    return Pronoun("it", noun.gender) if noun.has("it") else None
