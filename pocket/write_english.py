"""From what a sentence says to its English words."""

from .english import article, be, finite, modal_form, noun_form, present, takes_to
from .entries import Idiom
from .linked import Word, as_text, capitalised, idiom_words, with_mark, words
from .sentence import (
    Asked,
    Both,
    Clause,
    Determiner,
    Name,
    NounPhrase,
    Phrase,
    Prepositional,
    Pronoun,
    Quality,
    Relative,
    Sentence,
    Unsaid,
    pronoun_for,
)


def write(sentence: Sentence) -> list[Word]:
    """The whole line."""
    first = clause(sentence.first, "1", question=sentence.question)
    second = clause(sentence.second, "2") if sentence.second else []
    mark = "?" if sentence.question else "."
    if sentence.link is None:
        opening = capitalised(with_mark(first, mark))
        return opening + capitalised(with_mark(second, ".")) if second else opening
    link = idiom_words(sentence.link, "link", german=False)
    if sentence.subordinate_first:
        return capitalised(with_mark([*link, *with_mark(second, ","), *first], mark))
    if sentence.link.en == "but":
        first = with_mark(first, ",")
    return capitalised(with_mark([*first, *link, *second], mark))


def clause(c: Clause, path: str, *, question: bool = False) -> list[Word]:
    """One clause; a question whose subject is not asked for puts the auxiliary first."""
    subject = phrase(c.subject, f"{path}.subject", subject=True)
    inverted = question and not isinstance(c.subject, Asked)
    auxiliary, main = verb_group(c, path, support=inverted)
    negation = words("not", f"{path}.not") if c.negated and not _is_cannot(c) else []
    frequency = idiom_words(c.frequency, f"{path}.frequency", german=False) if c.frequency else []
    front, rest = fronted(c, path), complements(c, path)
    if inverted:
        return [*front, *auxiliary, *subject, *negation, *frequency, *main, *rest]
    return [*front, *subject, *auxiliary, *negation, *frequency, *main, *rest]


def fronted(c: Clause, path: str) -> list[Word]:
    """What stands before the subject."""
    if c.front == "asked" and c.asked:
        return idiom_words(c.asked, f"{path}.asked", german=False)
    if c.front == "time" and c.time:
        return idiom_words(c.time, f"{path}.time", german=False)
    return phrase(c.object, f"{path}.object") if c.front == "object" and c.object else []


def complements(c: Clause, path: str) -> list[Word]:
    """What follows the verb: recipient, object with particle, manner, places, time."""
    line: list[Word] = []
    if c.recipient:
        line += phrase(c.recipient, f"{path}.recipient")
    line += object_with_particle(c, path)
    if c.quality:
        line += quality(c.quality, f"{path}.quality")
    manner = idiom_words(c.manner, f"{path}.manner", german=False) if c.manner else []
    goal = adjunct_words(c.goal, f"{path}.goal")
    line += goal + manner if isinstance(c.goal, Idiom) else manner + goal  # home slowly; slowly to the city
    line += adjunct_words(c.companion, f"{path}.companion") + adjunct_words(c.place, f"{path}.place")
    if c.time and c.front != "time":
        line += idiom_words(c.time, f"{path}.time", german=False)
    return line


def object_with_particle(c: Clause, path: str) -> list[Word]:
    """The object; a pronoun stands before the particle: turns the lamp on, never turns on it."""
    particle = words(c.verb.particle, f"{path}.particle")
    preposition = words(c.verb.en_prep, f"{path}.particle")
    thing = phrase(c.object, f"{path}.object") if c.object and c.front != "object" else []
    if isinstance(c.object, Pronoun):
        return [*preposition, *thing, *particle]
    return [*preposition, *particle, *thing]


def adjunct_words(adjunct: Prepositional | Idiom | None, path: str) -> list[Word]:
    """A prepositional phrase or a fixed one, if any."""
    if adjunct is None:
        return []
    if isinstance(adjunct, Idiom):
        return idiom_words(adjunct, path, german=False)
    return [*words(adjunct.preposition.en, f"{path}.preposition"), *phrase(adjunct.phrase, path)]


def quality(q: Quality, path: str) -> list[Word]:
    """Old; older than the dog; as old as the dog."""
    if q.than is None:
        return words(q.adjective.en, path)
    than = phrase(q.than, f"{path}.than", subject=True)
    if q.equal:
        return [*words("as", f"{path}.as"), *words(q.adjective.en, path), *words("as", f"{path}.link"), *than]
    return [*words(q.adjective.en_more, path), *words("than", f"{path}.link"), *than]


def _is_cannot(c: Clause) -> bool:
    """Whether the negation is part of the word "cannot"."""
    return c.modal is not None and c.modal.en == "can" and c.tense == "present"


def verb_group(c: Clause, path: str, *, support: bool) -> tuple[list[Word], list[Word]]:
    """Auxiliary and main part; the auxiliary is empty where neither negation nor inversion needs one.

    The auxiliary carries the key that the German finite verb carries; a verb in one word carries both.
    """
    aux, main = f"{path}.auxiliary", f"{path}.verb"
    if c.modal is not None:
        return _with_modal(c, path, support=support)
    if c.tense == "future":
        return words("will", aux), words(c.verb.en, main)
    if c.verb.en == "be":
        return words(be(c.subject, past=c.tense == "past"), aux, main), []
    if c.tense == "progressive":
        return words(be(c.subject, past=False), aux), words(c.verb.ing, main)
    if c.negated or support:
        return _do(c, aux), words(c.verb.en, main)
    return [], words(finite(c.verb, c.subject, c.tense), aux, main)


def _do(c: Clause, key: str) -> list[Word]:
    return words("did" if c.tense == "past" else present("do", c.subject), key)


def _with_modal(c: Clause, path: str, *, support: bool) -> tuple[list[Word], list[Word]]:
    """Can read, cannot read, wants to read, does not want to read."""
    assert c.modal is not None
    key = f"{path}.auxiliary"
    full = words(c.verb.en, f"{path}.verb")
    if takes_to(c.modal, c.tense):
        if c.negated or support:
            return _do(c, key), [*words(c.modal.full, key), *words("to", key), *full]
        return [], [*words(modal_form(c.modal, c.subject, c.tense), key), *words("to", key), *full]
    if c.negated and _is_cannot(c):
        return words("cannot", key, f"{path}.not"), full
    form = modal_form(c.modal, c.subject, c.tense)
    return words(form, key), full


def phrase(p: Phrase, path: str, *, subject: bool = False) -> list[Word]:
    """Any phrase; pronouns differ between subject and object."""
    if isinstance(p, NounPhrase):
        return noun_phrase(p, path)
    if isinstance(p, Both):
        first = phrase(p.first, f"{path}.first", subject=subject)
        second = phrase(p.second, f"{path}.second", subject=subject)
        return [*first, *words("and", f"{path}.and"), *second]
    if isinstance(p, Pronoun):
        return words(p.en if subject else p.forms.en_object, path)
    return _one_word(p, path)


def _one_word(p: Name | Asked | Relative | Unsaid | NounPhrase | Both | Pronoun, path: str) -> list[Word]:
    if isinstance(p, Relative):
        return words("who" if p.noun.has("person") else "that", path)
    if isinstance(p, Name):
        return words(p.text, path)
    return words(p.en, path) if isinstance(p, Asked) else []


def noun_phrase(p: NounPhrase, path: str) -> list[Word]:
    """Determiner, adjective, noun, relative clause."""
    adjective = words(p.adjective.en, f"{path}.adjective") if p.adjective else []
    core = [*adjective, *words(noun_form(p.noun, p.number), f"{path}.noun")]
    line = [*determiner(p.determiner, p, as_text(core), f"{path}.determiner"), *core]
    return [*line, *clause(p.relative, f"{path}.relative")] if p.relative else line


def determiner(d: Determiner, p: NounPhrase, following: str, path: str) -> list[Word]:
    """The words before adjective and noun."""
    if d.kind == "how many":
        return [*words("how", f"{path}.how"), *words("many", path)]
    if d.kind == "a":
        return words(article(following), path)
    if d.kind == "this":
        return words("these" if p.number == "pl" else "this", path)
    owner = pronoun_for(d.owner) if d.owner else None
    text = {
        "my": owner.forms.en_possessive if owner else "",
        "name": f"{d.name}'s",
        "number": d.number,
        "bare": "",
    }
    return words(text.get(d.kind, d.kind), path)
