"""Random noun phrases: which determiner, number and adjective a noun gets."""

from typing import Literal

from .company import PEOPLE, adjectives_of
from .dice import Dice, spread
from .entries import Noun
from .lexicon import NUMBERS, read
from .sentence import (
    BARE,
    EVERY,
    MANY,
    THE,
    THIS,
    A,
    Both,
    Determiner,
    Name,
    NounPhrase,
    Number,
    Phrase,
    Pronoun,
    pronoun_for,
)

Role = Literal["subject", "object", "place", "person", "mass"]

MY, NAMED, COUNTED = Determiner("my"), Determiner("name"), Determiner("number")
# What stands before a noun, and how often, by the role of the phrase.
DETERMINERS: dict[Role, tuple[Determiner, ...]] = {
    "subject": spread(
        (48, THE), (15, A), (9, THIS), (3, EVERY), (14, MY), (4, NAMED), (3, MANY), (3, COUNTED), (4, BARE)
    ),
    "object": spread((38, THE), (31, A), (7, THIS), (14, MY), (4, NAMED), (3, MANY), (6, COUNTED), (8, BARE)),
    "place": spread((72, THE), (9, A), (9, THIS), (10, MY)),
    "person": spread((45, THE), (14, A), (6, THIS), (28, MY), (7, NAMED)),
    "mass": spread((9, THE), (9, BARE), (2, THIS)),
}
ADJECTIVE_RATES: dict[Role, float] = {"subject": 0.28, "object": 0.36, "place": 0.2, "person": 0.2, "mass": 0.35}
PLURAL_RATES: dict[Role, float] = {"subject": 0.25, "object": 0.2, "place": 0.0, "person": 0.15, "mass": 0.0}

OWNED = ("family", "friend", "pet", "portable", "clothes", "own", "home", "device")
SPEAKERS = (Pronoun("I"), Pronoun("you"), Pronoun("we"))
SUBJECT_PRONOUNS = (*SPEAKERS, Pronoun("he"), Pronoun("she"), Pronoun("they", "pl"))
# "Sie" is she, her, they and them: without an antecedent only what German keeps apart may be an object.
OBJECT_PRONOUNS = (Pronoun("I"), Pronoun("you"), Pronoun("he"), Pronoun("we"))
NAME_PHRASES = read(Name, "names")


def noun_phrase(
    dice: Dice,
    noun: Noun,
    role: Role,
    *,
    owner: Pronoun | None = None,
    number: Number | None = None,
    adjective: bool = True,
) -> NounPhrase:
    """A phrase around `noun`; `owner` is the subject that "his" may point to, `number` forces one."""
    if noun.has("mass"):
        role = "mass"
    determiner = _fitting(dice.pick(DETERMINERS[role]), noun, number)
    plural = _is_plural(dice, determiner, noun, role, number)
    suited = adjectives_of(noun.en)
    wanted = adjective and suited.items and dice.chance(ADJECTIVE_RATES[role])
    return NounPhrase(
        noun=noun,
        determiner=_filled(dice, determiner, owner),
        number="pl" if plural else "sg",
        adjective=suited.draw(dice) if wanted else None,
    )


def _fitting(determiner: Determiner, noun: Noun, number: Number | None) -> Determiner:
    """The determiner, or another where it would not suit the noun or its number."""
    if noun.has("noble"):
        return THE
    if noun.has("family") and determiner in (THIS, EVERY, MANY, COUNTED, BARE):
        return MY
    if noun.has("one") and determiner == A:
        return THE
    if noun.plural_only:
        return determiner if determiner.kind in ("my", "name") else THE
    if determiner.kind in ("my", "name") and not noun.has(*OWNED):
        return THE
    return determiner if noun.has("mass") else _in_number(determiner, number)


def _in_number(determiner: Determiner, number: Number | None) -> Determiner:
    """The determiner, or its counterpart where the number is settled."""
    if number == "sg" and determiner in (MANY, COUNTED, BARE):
        return A
    return BARE if number == "pl" and determiner in (A, EVERY) else determiner


def _is_plural(dice: Dice, determiner: Determiner, noun: Noun, role: Role, number: Number | None) -> bool:
    if noun.has("mass") or determiner in (A, EVERY):
        return False
    if noun.plural_only or determiner in (MANY, COUNTED, BARE):
        return True
    if noun.has("noble", "one") or (noun.en == noun.en_plural and determiner != THIS):
        return False  # "the sheep" is one of them
    return dice.chance(PLURAL_RATES[role]) if number is None else number == "pl"


def _filled(dice: Dice, determiner: Determiner, owner: Pronoun | None) -> Determiner:
    """The determiner with its possessor or number."""
    if determiner == MY:
        return Determiner("my", owner=owner if owner and dice.chance(0.75) else dice.pick(SPEAKERS))
    if determiner == NAMED:
        return Determiner("name", name=dice.pick(NAME_PHRASES).text)
    if determiner == COUNTED:
        return Determiner("number", number=dice.pick(list(NUMBERS)))
    return determiner


def owner_in(subject: Phrase) -> Pronoun | None:
    """The subject as a possessor; things own nothing."""
    if isinstance(subject, NounPhrase) and subject.noun.sort not in ("person", "animal"):
        return None
    return pronoun_for(subject)


def person(dice: Dice, *, other_than: Phrase | None = None, owner: Pronoun | None = None) -> Phrase:
    """Someone who takes part: a name or a noun phrase, not the subject again."""
    taken = other_than.noun if isinstance(other_than, NounPhrase) else None
    noun = PEOPLE.draw(dice)
    if noun == taken or dice.chance(0.15):
        name = dice.pick(NAME_PHRASES)
        return name if name != other_than else NAME_PHRASES[(NAME_PHRASES.index(name) + 1) % len(NAME_PHRASES)]
    return noun_phrase(dice, noun, "person", owner=owner)


def pair_of_people(dice: Dice) -> Both:
    """Two names, or two people, joined by "and"."""
    first = dice.pick(NAME_PHRASES)
    if dice.chance(0.4):
        noun = PEOPLE.draw(dice)
        return Both(NounPhrase(noun), NounPhrase(_another(dice, noun)))
    second = NAME_PHRASES[(NAME_PHRASES.index(first) + 1 + 2 * int(dice.chance(0.5))) % len(NAME_PHRASES)]
    return Both(first, second)


def _another(dice: Dice, noun: Noun) -> Noun:
    """A person who is not the same."""
    other = PEOPLE.draw(dice)
    return other if other != noun else PEOPLE.items[(PEOPLE.items.index(noun) + 1) % len(PEOPLE.items)]
