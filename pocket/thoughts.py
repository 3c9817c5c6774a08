"""Random sentences of two clauses that have to do with each other."""

from collections.abc import Iterable
from dataclasses import replace

from .clauses import ANY, Wish, any_subject, clause, quantified
from .company import LASTING, MOMENTS, MOODY, RELATED, TRAITED, WHO_VERBS, adjectives_of
from .dice import Dice, spread
from .entries import Adjective, Idiom, Noun
from .lexicon import ADJECTIVE, FIXED_VERB, LINK, MODAL, SEQUELS
from .sentence import (
    EVERY,
    MANY,
    THE,
    Clause,
    NounPhrase,
    Phrase,
    Pronoun,
    Quality,
    Relative,
    Sentence,
    Tense,
    Unsaid,
    pronoun_for,
)

CALM = Wish(modal=0.0, negated=0.0, time=0.0, extras=0.6)
STATES = ("tired", "sad", "sick", "hungry")
STATE_LINKS = spread((5, LINK["because"]), (3, LINK["if"]), (3, LINK["although"]))
NOT_IN_THE_RAIN = {"because": 0.8, "if": 0.4}
WEATHER_LINKS = spread((2, LINK["because"]), (2, LINK["if"]), (1, LINK["although"]), (1, LINK["while"]))


def _tense(dice: Dice) -> Tense:
    return "present" if dice.chance(0.65) else "past"


def _be(pronoun: Phrase, adjective: Adjective, tense: Tense, *, negated: bool = False) -> Clause:
    return Clause(pronoun, FIXED_VERB["be"], tense, quality=Quality(adjective), negated=negated)


def _suited(noun: Noun, names: Iterable[str]) -> list[Adjective]:
    """Those of the named adjectives that one says of the noun."""
    return [a for a in adjectives_of(noun.en).items if a.en in names]


def things_named(phrases: Iterable[Phrase | None]) -> int:
    """How many singular phrases "it" could take up."""
    pronouns = [pronoun_for(phrase) for phrase in phrases if isinstance(phrase, NounPhrase)]
    return sum(1 for pronoun in pronouns if pronoun and pronoun.en == "it")


def state(dice: Dice) -> Sentence | None:
    """The man sleeps because he is tired; if he is tired, he sleeps; although he is tired, he works."""
    link = dice.pick(STATE_LINKS)
    verb = (LASTING if link == LINK["although"] else MOODY).draw(dice)
    subject = any_subject(dice, verb)
    names = [mood for mood in STATES if mood not in verb.mood] if link == LINK["although"] else verb.mood
    pronoun = pronoun_for(subject)
    if pronoun is None or (isinstance(subject, NounPhrase) and subject.determiner in (EVERY, MANY)):
        return None
    suited = _suited(subject.noun, names) if isinstance(subject, NounPhrase) else [ADJECTIVE[n] for n in names]
    if not suited:
        return None
    if isinstance(subject, NounPhrase):
        subject = replace(subject, adjective=None)
    tense: Tense = "present" if link == LINK["if"] else _tense(dice)
    reason_first = dice.chance(0.4)
    deed = clause(dice, replace(CALM, tense=tense, subject=pronoun if reason_first else subject), verb)
    if isinstance(deed.object, Pronoun):
        return None
    why = _be(subject if reason_first else pronoun, dice.pick(suited), deed.tense)
    if pronoun.en == "it" and not reason_first and things_named((deed.subject, deed.object, *_around(deed))) > 1:
        return None
    return Sentence(deed, link, why, subordinate_first=reason_first)


def _around(c: Clause) -> tuple[Phrase, ...]:
    """The phrases after prepositions."""
    return tuple(part.phrase for part in (c.place, c.goal, c.companion) if part and not isinstance(part, Idiom))


def quality(dice: Dice) -> Sentence | None:
    """The woman buys the lamp because it is beautiful. The lamp is beautiful, but she does not buy it."""
    verb = TRAITED.draw(dice)
    tense = _tense(dice)
    deed = clause(dice, replace(CALM, tense="present" if verb.marked("no-past") else tense, extras=0.0), verb)
    thing = deed.object
    if not isinstance(thing, NounPhrase) or thing.determiner in (EVERY, MANY):
        return None
    suited = _suited(thing.noun, verb.trait)
    pronoun = pronoun_for(thing)
    if not suited or pronoun is None or things_named((deed.subject, thing, *_around(deed))) != (pronoun.en == "it"):
        return None
    if pronoun_for(deed.subject) == pronoun:
        return None
    thing = replace(thing, adjective=None)
    adjective = dice.pick(suited)
    if dice.chance(0.5) or thing.determiner.kind == "my":
        return Sentence(replace(deed, object=thing), LINK["because"], _be(pronoun, adjective, deed.tense))
    return _taken_up(dice, deed, thing, pronoun, adjective)


def _taken_up(dice: Dice, deed: Clause, thing: NounPhrase, pronoun: Pronoun, adjective: Adjective) -> Sentence:
    """The quality comes first, and the pronoun is the object: ..., but the woman does not buy it."""
    if thing.determiner.kind not in ("the", "this", "name"):
        thing = replace(thing, determiner=THE)
    negated = dice.chance(0.5) and not quantified(deed.subject)
    first = _be(thing, adjective, deed.tense)
    second = replace(deed, object=pronoun, negated=negated, goal=None, place=None, companion=None)
    return Sentence(first, LINK["but"] if negated else LINK["and"], second)


def two_sentences(dice: Dice) -> Sentence | None:
    """The woman buys a lamp. It is expensive."""
    deed = clause(dice, replace(ANY, negated=0.0, extras=0.0, modal=0.05))
    thing = deed.object if deed.object else deed.subject
    if not isinstance(thing, NounPhrase) or deed.recipient or thing.determiner in (EVERY, MANY) or deed.goal:
        return None
    pronoun = pronoun_for(thing)
    suited = [
        a for a in adjectives_of(thing.noun.en).items
        if a != thing.adjective and (thing.noun.has("person", "animal") or "person" not in a.kinds)
    ]  # fmt: skip
    if pronoun is None or not suited or (pronoun_for(deed.subject) == pronoun and deed.object):
        return None
    if pronoun.en == "it" and things_named((deed.subject, deed.object)) != 1:
        return None
    if deed.object:
        deed = replace(deed, object=replace(thing, adjective=None))
    tense: Tense = "past" if deed.tense == "past" else "present"
    return Sentence(deed, None, _be(pronoun, dice.pick(suited), tense, negated=dice.chance(0.15)))


REPORTING = ("say", "think", "believe", "know", "hope")
NOT_NEXT = ("get up", "wake up", "wear")


def sequel(dice: Dice) -> Sentence | None:
    """The man opens the letter and reads it."""
    name, next_name = dice.pick(SEQUELS)
    first_verb = next(verb for verb in WHO_VERBS.items if verb.name == name)
    next_verb = next(verb for verb in WHO_VERBS.items if verb.name == next_name)
    first = clause(dice, replace(CALM, tense=_tense(dice), extras=0.0), first_verb)
    thing = first.object
    if not isinstance(thing, NounPhrase) or not thing.noun.has(*next_verb.what) or quantified(first.subject):
        return None
    pronoun = pronoun_for(thing)
    if pronoun is None or things_named((first.subject, thing)) != (pronoun.en == "it"):
        return None
    second = Clause(Unsaid(first.subject), next_verb, first.tense, object=pronoun)
    return Sentence(first, LINK["and"], second)


def weather(dice: Dice) -> Sentence:
    """If it rains, the children play in the living room."""
    link = dice.pick(WEATHER_LINKS)
    tense: Tense = "present" if link == LINK["if"] else _tense(dice)
    deed = clause(dice, replace(CALM, tense=tense, negated=NOT_IN_THE_RAIN.get(link.en, 0.0)), LASTING.draw(dice))
    rain = Clause(Pronoun("it"), dice.pick((FIXED_VERB["rain"], FIXED_VERB["snow"])), deed.tense)
    if link == LINK["because"] and not deed.negated:
        link = LINK["while"]
    return Sentence(deed, link, rain, subordinate_first=dice.chance(0.5))


def meanwhile(dice: Dice) -> Sentence | None:
    """While the mother cooks, the father reads; when the guest arrived, they slept."""
    once = dice.chance(0.4)
    tense: Tense = "past" if once else _tense(dice)
    brief = replace(CALM, tense=tense, extras=0.3)
    main = clause(dice, brief, LASTING.draw(dice))
    other = clause(dice, brief, (MOMENTS if once else LASTING).draw(dice))
    if main.subject == other.subject or main.verb == other.verb or main.tense != other.tense:
        return None
    return Sentence(main, LINK["when"] if once else LINK["while"], other, subordinate_first=dice.chance(0.5))


def before(dice: Dice) -> Sentence | None:
    """The woman drinks tea before she works."""
    brief = replace(CALM, tense=_tense(dice), extras=0.3)
    first = clause(dice, brief, LASTING.draw(dice))
    pronoun = pronoun_for(first.subject)
    if pronoun is None or pronoun.en == "it" or quantified(first.subject):
        return None
    verb = WHO_VERBS.draw(dice)
    if verb.marked("stative") or verb.marked("placed") or verb == first.verb or verb.name in NOT_NEXT:
        return None
    if isinstance(first.subject, NounPhrase) and not first.subject.noun.has(*verb.who):
        return None
    second = clause(dice, replace(brief, subject=pronoun), verb)
    clear = first.tense == second.tense and not isinstance(second.object, Pronoun)
    return Sentence(first, LINK["before"], second) if clear else None


def reported(dice: Dice) -> Sentence:
    """The teacher says that the child reads well; she asks whether the train comes."""
    about = clause(dice, replace(ANY, fronted=0.0, time=0.2, extras=0.6))
    if about.negated and about.object is not None:
        about = replace(about, time=None if about.tense != "progressive" else about.time, front="subject")
    speaker = any_subject(dice, FIXED_VERB["say"])
    if isinstance(speaker, NounPhrase):
        speaker = replace(speaker, adjective=None)
    if dice.chance(0.75):
        return Sentence(Clause(speaker, FIXED_VERB[dice.pick(REPORTING)]), LINK["that"], about)
    about = replace(
        about, negated=False, frequency=None, modal=MODAL["must"] if about.modal == MODAL["must not"] else about.modal
    )
    if dice.chance(0.5) or quantified(speaker):
        return Sentence(Clause(speaker, FIXED_VERB["ask"]), LINK["whether"], about)
    return Sentence(Clause(speaker, FIXED_VERB["know"], negated=True), LINK["whether"], about)


def relative(dice: Dice) -> Sentence | None:
    """The man who repairs the car is tired; the book that the girl reads is interesting."""
    inner = clause(dice, replace(CALM, tense=_tense(dice), extras=0.4), RELATED.draw(dice))
    of_object = isinstance(inner.object, NounPhrase) and dice.chance(0.5) and not inner.verb.de_prep
    head = inner.object if of_object else inner.subject
    if not isinstance(head, NounPhrase) or head.determiner in (EVERY, MANY) or _points_elsewhere(head):
        return None
    suited = adjectives_of(head.noun.en)
    if not suited.items:
        return None
    stands_for = Relative(head.noun, head.number)
    if of_object:
        inner = replace(inner, object=stands_for, front="object", manner=None)
    else:
        inner = replace(inner, subject=stands_for)
    subject = NounPhrase(head.noun, THE, head.number, relative=inner)
    tense: Tense = inner.tense if inner.tense == "past" and dice.chance(0.4) else "present"
    return Sentence(_be(subject, suited.draw(dice), tense))


def _points_elsewhere(head: NounPhrase) -> bool:
    """A possessor that the relative clause itself would name."""
    return head.determiner.kind in ("my", "name")
