"""Random questions: yes or no, who, what, which, how many, where, when, why."""

from dataclasses import replace

from .clauses import Wish, clause
from .company import OBJECT_VERBS, PLACED, VERBS, WHO_VERBS
from .dice import Dice
from .entries import Noun
from .lexicon import ADVERBIAL, QUESTION
from .qualities import description
from .sentence import HOW_MANY, WHICH, Asked, Clause, NounPhrase, Pronoun, Sentence

UNFRONTED = Wish(negated=0.0, fronted=0.0)
BRIEF = Wish(negated=0.0, time=0.0, extras=0.4, fronted=0.0)


def yes_or_no(dice: Dice) -> Sentence:
    """Does the dog sleep? Schläft der Hund?"""
    c = replace(description(dice), front="subject") if dice.chance(0.25) else clause(dice, UNFRONTED)
    return Sentence(replace(c, frequency=None) if c.frequency == ADVERBIAL["never"] else c, question=True)


def who(dice: Dice) -> Sentence:
    """Who reads the book? Wer liest das Buch?"""
    wish = replace(BRIEF, subject=Asked("who"))
    return Sentence(clause(dice, wish, WHO_VERBS.draw(dice)), question=True)


def whom_or_what(dice: Dice) -> Sentence:
    """What, who(m), which book or how many books does the girl read?"""
    c = clause(dice, replace(BRIEF, modal=0.08), OBJECT_VERBS.draw(dice))
    thing = c.object
    if c.companion or not isinstance(thing, NounPhrase):
        return Sentence(c, question=True)
    asked: NounPhrase | Asked
    if dice.chance(0.5) and not c.recipient:
        asked = Asked("who" if thing.noun.has("person") else "what")
        c = replace(c, place=None)
    else:
        number = thing.number
        many = number == "pl" and not thing.noun.plural_only and (dice.chance(0.6) or _unmarked(thing.noun))
        asked = replace(thing, determiner=HOW_MANY if many else WHICH, adjective=None)
    return Sentence(replace(c, object=asked, front="object"), question=True)


def _unmarked(noun: Noun) -> bool:
    """Whether singular and plural look the same, so that "which" would not tell."""
    return noun.en == noun.en_plural


def where(dice: Dice) -> Sentence:
    """Where does the man work? Wo ...? Where does he go? Wohin ...?"""
    c = clause(dice, replace(BRIEF, extras=0.0), PLACED.draw(dice))
    if isinstance(c.object, Pronoun):
        c = replace(c, object=None) if c.verb.marked("optional") else c
    word = QUESTION["goal" if c.verb.goes else "place"]
    return Sentence(replace(c, place=None, goal=None, asked=word, front="asked"), question=True)


def when_or_why(dice: Dice) -> Sentence:
    """When does the film begin? Why is the child sad?"""
    if dice.chance(0.3):
        return Sentence(_why_be(dice), question=True)
    why = dice.chance(0.5)
    c = clause(dice, replace(BRIEF, negated=0.3 if why else 0.0), VERBS.draw(dice))
    if c.tense == "progressive" or (not why and c.verb.marked("state")):
        return Sentence(replace(c, time=None, tense="present", asked=QUESTION["reason"], front="asked"), question=True)
    return Sentence(replace(c, asked=QUESTION["reason" if why else "time"], front="asked"), question=True)


def _why_be(dice: Dice) -> Clause:
    return replace(description(dice), time=None, frequency=None, asked=QUESTION["reason"], front="asked")
