"""Random clauses around "to be": what someone or something is like, and where it is."""

from dataclasses import replace

from .company import adjectives_of, nouns_of, spots_of
from .dice import Dice, spread
from .entries import Adjective, Noun
from .lexicon import ADVERBIAL, ADVERBIALS, FIXED_VERB
from .phrases import NAME_PHRASES, SUBJECT_PRONOUNS, noun_phrase
from .sentence import THE, A, Clause, NounPhrase, Phrase, Prepositional, Quality, Tense

DESCRIBED = nouns_of(
    ("person", "animal", "thing", "vehicle", "place", "food", "drink", "feed", "text", "idea", "event", "part")
)
STATES = ("hungry", "tired", "happy", "sad", "sick", "angry", "friendly", "dirty")
MOVABLE = nouns_of(("small-thing", "dish", "text", "clothes", "toy", "flower", "pet"))
SURFACES = ("table", "kitchen-table", "chair", "sofa", "bench", "bed", "cupboard", "kitchen", "bedroom", "car")
WHEREABOUTS = (
    *("room", "garden", "workplace", "town", "outdoors", "region", "sight", "house"),
    *("cinema", "mountain", "swimming-pool"),
)
PEOPLE = nouns_of(("person",))
TENSES: tuple[Tense, ...] = spread((7, "present"), (3, "past"))


def description(dice: Dice) -> Clause:
    """Someone or something is old, older than another, as old as another, or is somewhere."""
    noun = DESCRIBED.draw(dice)
    suited = adjectives_of(noun.en)
    if not suited.items or dice.chance(0.2):
        return whereabouts(dice)
    adjective = suited.draw(dice)
    c = Clause(_subject(dice, noun), FIXED_VERB["be"], dice.pick(TENSES))
    if adjective.en_more and dice.chance(0.28):
        return _compared(dice, c, noun, adjective)
    c = replace(c, quality=Quality(adjective), negated=dice.chance(0.15) and is_definite(c.subject))
    return _timed(dice, c) if adjective.en in STATES else c


def is_definite(phrase: Phrase) -> bool:
    """Whether "not" after the verb can only mean one thing."""
    return not isinstance(phrase, NounPhrase) or phrase.determiner.kind in ("the", "this", "my", "name")


def _subject(dice: Dice, noun: Noun) -> Phrase:
    """The noun in a phrase without adjective; people also by name or pronoun."""
    if noun.has("person") and dice.chance(0.25):
        return dice.pick(NAME_PHRASES) if dice.chance(0.5) else dice.pick(SUBJECT_PRONOUNS)
    phrase = noun_phrase(dice, noun, "subject", adjective=False)
    return phrase if is_definite(phrase) or phrase.number == "pl" else NounPhrase(noun)


def _compared(dice: Dice, c: Clause, noun: Noun, adjective: Adjective) -> Clause:
    """Against another of the same sort to whom the quality can belong, too."""
    others = [o for o in DESCRIBED.items if o != noun and o.sort == noun.sort and o.has(*adjective.kinds)]
    if not others:
        return replace(c, quality=Quality(adjective))
    other = noun_phrase(dice, dice.pick(others), "person", adjective=False)
    if other.determiner == A:
        other = replace(other, determiner=THE)
    if isinstance(c.subject, NounPhrase) and not is_definite(c.subject):
        c = replace(c, subject=replace(c.subject, determiner=THE))
    return replace(c, quality=Quality(adjective, than=other, equal=dice.chance(0.35)))


def _timed(dice: Dice, c: Clause) -> Clause:
    """States come and go: today, often, yesterday."""
    if not c.negated and dice.chance(0.25):
        return replace(c, frequency=dice.pick(ADVERBIALS["frequency"]))
    if not dice.chance(0.35):
        return c
    time = dice.pick(ADVERBIALS["past"]) if c.tense == "past" else ADVERBIAL["today"]
    return replace(c, time=time, front="time" if dice.chance(0.4) else "subject")


def whereabouts(dice: Dice) -> Clause:
    """A person is in a place, a thing lies about."""
    is_person = dice.chance(0.5)
    noun = (PEOPLE if is_person else MOVABLE).draw(dice)
    c = Clause(_subject(dice, noun), FIXED_VERB["be"], dice.pick(TENSES))
    if is_person and dice.chance(0.15):
        return replace(c, place=ADVERBIAL["at home"])
    preposition, where = spots_of(WHEREABOUTS if is_person else SURFACES).draw(dice)
    negated = dice.chance(0.12) and is_definite(c.subject)
    return replace(c, negated=negated, place=Prepositional(preposition, noun_phrase(dice, where, "place")))
