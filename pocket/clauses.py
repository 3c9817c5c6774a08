"""Random clauses: a verb, those who suit it, a tense, and what else one would say with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .company import VERBS, nouns_of, spots_of
from .dice import Dice, spread
from .entries import Idiom, Noun, Verb
from .lexicon import ADVERBIAL, ADVERBIALS, MODAL, PREPOSITION
from .phrases import NAME_PHRASES, OBJECT_PRONOUNS, SUBJECT_PRONOUNS, noun_phrase, owner_in, pair_of_people, person
from .sentence import (
    BARE,
    THE,
    A,
    Both,
    Clause,
    NounPhrase,
    Number,
    Phrase,
    Prepositional,
    Pronoun,
    Tense,
    number_of,
    person_of,
)

TENSES: tuple[Tense, ...] = spread((52, "present"), (28, "past"), (11, "future"), (10, "progressive"))
MODALS = spread((15, MODAL["can"]), (10, MODAL["must"]), (6, MODAL["may"]), (7, MODAL["should"]), (12, MODAL["want"]))
PAST_MODALS = spread((9, MODAL["can"]), (8, MODAL["must"]), (8, MODAL["want"]))
ANIMAL_MODALS = (MODAL["can"], MODAL["want"])
WORN = ("wear", "put on", "take off")


@dataclass(frozen=True)
class Wish:
    """What a caller wants of a clause; the rest is left to chance."""

    tense: Tense | None = None
    subject: Phrase | None = None
    modal: float = 0.13
    negated: float = 0.13
    time: float = 0.3
    extras: float = 1.0  # factor on manner, place and companion
    fronted: float = 0.45


ANY = Wish()
BARE_BONES = Wish(modal=0.0, negated=0.0, time=0.0, extras=0.0)


def clause(dice: Dice, wish: Wish = ANY, verb: Verb | None = None) -> Clause:
    """A statement about anything."""
    verb = verb or VERBS.draw(dice)
    subject = wish.subject or any_subject(dice, verb)
    tense = wish.tense or any_tense(dice, verb)
    if tense == "past" and (verb.marked("no-past") or _past_unheard(verb, subject)):
        tense = "present"
    c = Clause(subject, verb, tense)
    c = with_modal(dice, c, wish)
    c = with_objects(dice, c)
    c = with_surroundings(dice, c, wish.extras)
    c = with_negation(dice, c, wish)
    return with_time(dice, c, wish)


def _past_unheard(verb: Verb, subject: Phrase) -> bool:
    """Whether the past sounds like the present: they read, they put on (but he reads, he read)."""
    return verb.past == verb.en and not (number_of(subject) == "sg" and person_of(subject) == 3)


def any_tense(dice: Dice, verb: Verb) -> Tense:
    """A tense that the verb is used in."""
    tense = dice.pick(TENSES)
    if tense == "past" and verb.marked("no-past"):
        return "present"
    if tense == "progressive" and (verb.marked("stative") or verb.marked("moment")):
        return "past" if not verb.marked("no-past") else "present"
    return "present" if tense == "future" and verb.marked("state") else tense


def any_subject(dice: Dice, verb: Verb) -> Phrase:
    """Someone or something that does what the verb says."""
    noun = nouns_of(verb.who).draw(dice)
    if not noun.has("person") or "person" not in verb.who:
        return noun_phrase(dice, noun, "subject")
    if dice.chance(0.78):
        return noun_phrase(dice, noun, "subject")
    if dice.chance(0.2):
        return pair_of_people(dice)
    return dice.pick(NAME_PHRASES) if dice.chance(0.4) else dice.pick(SUBJECT_PRONOUNS)


def with_modal(dice: Dice, c: Clause, wish: Wish) -> Clause:
    """Perhaps a modal verb, which takes the place of future and progressive."""
    v = c.verb
    if v.marked("state") or v.marked("no-modal") or not dice.chance(wish.modal):
        return c
    if c.tense == "past":
        return replace(c, modal=dice.pick(PAST_MODALS))
    if wish.tense is not None:
        return c
    beast = isinstance(c.subject, NounPhrase) and not c.subject.noun.has("person")
    return replace(c, modal=dice.pick(ANIMAL_MODALS if beast else MODALS), tense="present")


def with_objects(dice: Dice, c: Clause) -> Clause:
    """The object and the recipient that the verb asks for."""
    v = c.verb
    if not v.what or (v.marked("optional") and dice.chance(0.2)):
        return c
    owner = owner_in(c.subject)
    noun = _other_noun(dice, v, c.subject)
    thing: Phrase = noun_phrase(dice, noun, "object", owner=owner, number=_number(v, noun))
    if noun.has("person"):
        thing = _some_person(dice, thing, c.subject)
    if v.name == "have" and isinstance(thing, NounPhrase) and thing.determiner.definite and thing.number == "sg":
        thing = replace(thing, determiner=A)
    if v.de_prep and isinstance(thing, NounPhrase) and not thing.determiner.definite:
        thing = replace(thing, determiner=THE)
    recipient = person(dice, other_than=c.subject, owner=owner) if v.marked("recipient") else None
    if isinstance(recipient, NounPhrase):
        recipient = replace(recipient, adjective=None)
    return replace(c, object=thing, recipient=recipient)


def _other_noun(dice: Dice, verb: Verb, subject: Phrase) -> Noun:
    """A noun for the object that is not the subject's, alone or in a pair."""
    phrases = (subject.first, subject.second) if isinstance(subject, Both) else (subject,)
    taken = [phrase.noun for phrase in phrases if isinstance(phrase, NounPhrase)]
    choice = nouns_of(verb.what)
    noun = choice.draw(dice)
    while noun in taken:
        noun = choice.items[(choice.items.index(noun) + 1) % len(choice.items)]
    return noun


def _number(verb: Verb, noun: Noun) -> Number | None:
    """Clothes on one's body are one piece, or a pair."""
    if noun.has("mass") or verb.name not in WORN:
        return None
    return "pl" if noun.has("pair") else "sg"


def _some_person(dice: Dice, phrase: Phrase, subject: Phrase) -> Phrase:
    """The person meant, sometimes by name or pronoun."""
    if dice.chance(0.1):
        name = dice.pick(NAME_PHRASES)
        return name if name != subject and not isinstance(subject, Both) else phrase
    pronoun = dice.pick(OBJECT_PRONOUNS)
    if dice.chance(0.12) and (person_of(pronoun) == 3 or person_of(pronoun) != person_of(subject)):
        return pronoun
    return phrase


def with_surroundings(dice: Dice, c: Clause, factor: float) -> Clause:
    """Where to, with or for whom, how, where: at most two of them."""
    v = c.verb
    if v.goes and not v.marked("onto"):
        c = replace(c, goal=_goal(dice, c))
    elif v.goes:
        c = replace(c, goal=Prepositional(PREPOSITION["onto"], noun_phrase(dice, nouns_of(v.goes).draw(dice), "place")))
    owner = owner_in(c.subject)
    if not v.marked("placed") and dice.chance(0.16 * factor) and (v.marked("with") or (v.marked("for") and c.object)):
        who = person(dice, other_than=c.subject, owner=owner)
        name = "for" if v.marked("for") else "without" if dice.chance(0.2) else "with"
        return replace(c, companion=Prepositional(PREPOSITION[name], who))
    if v.how and dice.chance(0.18 * factor):
        c = replace(c, manner=_manner(dice, c))
    wanted = v.marked("placed") or dice.chance((0.38 if v.what else 0.6) * factor)
    if v.where and (not c.manner or v.marked("placed")) and not isinstance(c.object, Pronoun) and wanted:
        return replace(c, place=_place(dice, c))
    return c


def _goal(dice: Dice, c: Clause) -> Prepositional | Idiom:
    if c.verb.marked("home") and dice.chance(0.15):
        return ADVERBIAL["home"]
    noun = nouns_of(c.verb.goes).draw(dice)
    ways = [way for spot in noun.spots if (way := PREPOSITION[spot]).use == "to"]
    if c.verb.name in ("run", "fly") and noun.has("crossable") and dice.chance(0.5):
        ways = [PREPOSITION["through"]]
    preposition = ways[0] if ways else PREPOSITION["to:zu"]
    return Prepositional(preposition, noun_phrase(dice, noun, "place", owner=owner_in(c.subject)))


def _place(dice: Dice, c: Clause) -> Prepositional | Idiom:
    if c.verb.marked("home") and dice.chance(0.3):
        return ADVERBIAL["at home"]
    preposition, noun = spots_of(c.verb.where).draw(dice)
    return Prepositional(preposition, noun_phrase(dice, noun, "place", owner=owner_in(c.subject)))


def _manner(dice: Dice, c: Clause) -> Idiom | None:
    """How it is done; "together" is for several, "alone" for one."""
    several = number_of(c.subject) == "pl"
    fitting = [how for how in c.verb.how if how not in (("alone",) if several else ("together",))]
    return ADVERBIAL[dice.seldom(fitting, fitting)] if fitting else None


def _frequency(dice: Dice, c: Clause) -> Idiom:
    """How often; "usually" only in the present, "never" not after "every" or "many"."""
    indefinite = isinstance(c.subject, NounPhrase) and c.subject.determiner.kind in ("every", "many", "number", "a")
    fitting = [f for f in ADVERBIALS["frequency"] if not (indefinite and f == ADVERBIAL["never"])]
    return _seldom(dice, fitting if c.tense == "present" else fitting[:-1])


def _seldom(dice: Dice, idioms: Sequence[Idiom]) -> Idiom:
    return dice.seldom(idioms, [idiom.en for idiom in idioms])


def quantified(subject: Phrase) -> bool:
    """Whether "not" after the subject could mean two things: every dog, many dogs, a dog."""
    return isinstance(subject, NounPhrase) and subject.determiner.kind in ("every", "many", "number", "bare", "a")


def with_negation(dice: Dice, c: Clause, wish: Wish) -> Clause:
    """Perhaps "not", where its scope is clear."""
    thing = c.object
    if quantified(c.subject) or c.modal == MODAL["may"] or not dice.chance(wish.negated):
        return c
    if thing is not None:
        c = replace(c, place=None, manner=None, companion=None)
    if isinstance(thing, NounPhrase) and thing.determiner.kind in ("many", "number"):
        thing = replace(thing, determiner=BARE)
    modal = MODAL["must not"] if c.modal == MODAL["must"] and c.tense == "present" else c.modal
    return replace(c, object=thing, negated=True, modal=modal)


def with_time(dice: Dice, c: Clause, wish: Wish) -> Clause:
    """When, or how often; the present progressive always says "now"."""
    if c.tense == "progressive":
        return replace(c, time=ADVERBIAL["now"], front="time" if dice.chance(wish.fronted / 2) else "subject")
    if c.verb.marked("state") and c.tense == "present":
        return c
    event = isinstance(c.subject, NounPhrase) and c.subject.noun.sort == "event"
    plain = c.modal is None and not c.negated and c.tense != "future" and not event and not c.verb.marked("state")
    if plain and wish.time and dice.chance(0.14):
        return replace(c, frequency=_frequency(dice, c))
    if not dice.chance(wish.time * (2 if c.tense == "future" else 1)):
        return c
    times = {"past": ADVERBIALS["past"], "future": ADVERBIALS["future"]}.get(c.tense, ADVERBIALS["habit"])
    if c.tense == "present" and (c.modal or c.negated or c.verb.marked("stative") or event):
        times = ADVERBIALS["habit"][:1]
    if c.tense == "past" and c.verb.marked("state"):
        times = ADVERBIALS["long-ago"]
    fronted = dice.chance(wish.fronted) or (c.negated and c.object is not None)
    return replace(c, time=_seldom(dice, times), front="time" if fronted else "subject")
