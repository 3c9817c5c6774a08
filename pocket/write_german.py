"""From what a sentence says to its German words."""

from typing import Literal

from . import german
from .entries import Case, Idiom
from .lexicon import ADVERBIAL, NUMBERS
from .linked import Word, capitalised, idiom_words, with_mark, words
from .sentence import (
    Asked,
    Both,
    Clause,
    Name,
    NounPhrase,
    Phrase,
    Prepositional,
    Pronoun,
    Quality,
    Relative,
    Sentence,
    Unsaid,
    number_of,
    pronoun_for,
)

VerbPlace = Literal["second", "first", "last"]


def write(sentence: Sentence) -> list[Word]:
    """The whole line."""
    mark = "?" if sentence.question else "."
    if sentence.link is None:
        place: VerbPlace = "first" if sentence.question and not _asks_for_something(sentence.first) else "second"
        opening = capitalised(with_mark(clause(sentence.first, "1", place), mark))
        if sentence.second is None:
            return opening
        return opening + capitalised(with_mark(clause(sentence.second, "2", "second"), "."))
    assert sentence.second is not None
    link = idiom_words(sentence.link, "link", german=True)
    if sentence.subordinate_first:
        opening = with_mark([*link, *clause(sentence.second, "2", "last")], ",")
        return capitalised(with_mark([*opening, *clause(sentence.first, "1", "first")], mark))
    first = clause(sentence.first, "1", "first" if sentence.question else "second")
    second = clause(sentence.second, "2", "second" if sentence.link.en in ("and", "but") else "last")
    if sentence.link.en != "and":
        first = with_mark(first, ",")
    return capitalised(with_mark([*first, *link, *second], mark))


def _asks_for_something(c: Clause) -> bool:
    """Whether a question word or asked-for object opens the question."""
    return c.front in ("asked", "object") or isinstance(c.subject, Asked)


def clause(c: Clause, path: str, place: VerbPlace) -> list[Word]:
    """One clause with its finite verb second, first (questions, after a subordinate clause) or last."""
    subject = phrase(c.subject, f"{path}.subject", "nom")
    finite, end = verb_parts(c, path, joined=place == "last")
    front, middle = fronted(c, path), middle_field(c, path)
    if place == "last":
        return [*front, *subject, *middle, *end, *finite]
    if front:
        return [*front, *finite, *subject, *middle, *end]
    if place == "first":
        return [*finite, *subject, *middle, *end]
    return [*subject, *finite, *middle, *end]


def fronted(c: Clause, path: str) -> list[Word]:
    """What stands before the finite verb instead of the subject."""
    if c.front == "asked" and c.asked:
        return idiom_words(c.asked, f"{path}.asked", german=True)
    if c.front == "time" and c.time:
        return idiom_words(c.time, f"{path}.time", german=True)
    return phrase(c.object, f"{path}.object", c.verb.case) if c.front == "object" and c.object else []


def middle_field(c: Clause, path: str) -> list[Word]:
    """Pronoun, recipient, time, frequency, object, "nicht", object after a preposition, manner, places.

    Manner goes before an object that brings up something new: kocht schnell ein Ei, kocht das Ei schnell;
    but "gut" is never far from the verb's end.
    """
    line: list[Word] = []
    thing = _object(c, path)
    manner = idiom_words(c.manner, f"{path}.manner", german=True) if c.manner else []
    plain = thing if not c.verb.de_prep else []
    if isinstance(c.object, Pronoun):
        line += plain
    if c.recipient:
        line += phrase(c.recipient, f"{path}.recipient", "dat")
    if c.time and c.front != "time":
        line += idiom_words(c.time, f"{path}.time", german=True)
    if c.frequency:
        line += idiom_words(c.frequency, f"{path}.frequency", german=True)
    new = isinstance(c.object, NounPhrase) and c.object.determiner.kind in NEW and c.manner != WELL
    if not isinstance(c.object, Pronoun):
        line += manner + plain if new else plain
    if c.negated and not _takes_kein(c):
        line += words("nicht", f"{path}.not")
    if c.verb.de_prep:
        line += [*words(c.verb.de_prep, f"{path}.particle" if c.verb.en_prep else f"{path}.verb"), *thing]
    return line + ([] if new else manner) + _tail(c, path)


def _tail(c: Clause, path: str) -> list[Word]:
    """What stands close to the end: companion, place, goal, predicative adjective."""
    line: list[Word] = []
    for part, adjunct in (("companion", c.companion), ("place", c.place), ("goal", c.goal)):
        line += adjunct_words(adjunct, f"{path}.{part}") if adjunct else []
    return line + (quality(c.quality, f"{path}.quality") if c.quality else [])


def _object(c: Clause, path: str) -> list[Word]:
    """The object where it has not gone to the front."""
    if c.object is None or c.front == "object":
        return []
    return phrase(c.object, f"{path}.object", c.verb.case, negation=f"{path}.not" if _takes_kein(c) else "")


def _takes_kein(c: Clause) -> bool:
    """Whether the negation melts into an indefinite object: kein Buch."""
    if not c.negated or c.verb.de_prep or not isinstance(c.object, NounPhrase):
        return False
    return not c.object.determiner.definite


def adjunct_words(adjunct: Prepositional | Idiom, path: str) -> list[Word]:
    """A prepositional phrase, joined with the article where German does (im, zur), or a fixed one."""
    if isinstance(adjunct, Idiom):
        return idiom_words(adjunct, path, german=True)
    preposition = adjunct.preposition
    line = phrase(adjunct.phrase, path, preposition.case)
    key = f"{path}.preposition"
    plain_article = isinstance(adjunct.phrase, NounPhrase) and adjunct.phrase.determiner.kind == "the"
    joined = german.contracted(preposition, line[0].text) if plain_article else ""
    if joined:
        return [Word(joined, (*line[0].meaning, key)), *line[1:]]
    return [*words(preposition.de, key), *line]


def quality(q: Quality, path: str) -> list[Word]:
    """Alt; älter als der Hund; so alt wie der Hund."""
    if q.than is None:
        return words(q.adjective.de, path)
    than = phrase(q.than, f"{path}.than", "nom")
    if q.equal:
        return [*words("so", f"{path}.as"), *words(q.adjective.de, path), *words("wie", f"{path}.link"), *than]
    return [*words(q.adjective.de_more, path), *words("als", f"{path}.link"), *than]


def verb_parts(c: Clause, path: str, *, joined: bool) -> tuple[list[Word], list[Word]]:
    """The finite verb and what ends the clause: participle, infinitive or separated prefix."""
    v, aux, main = c.verb, f"{path}.auxiliary", f"{path}.verb"
    whole = (main,) if v.de_prep else (main, f"{path}.particle")  # "suchen" says "look for" in one word
    helper = _auxiliary(c)
    if helper:
        end = v.participle if c.tense == "past" and c.modal is None else german.joined_infinitive(v)
        if isinstance(c.subject, Unsaid):  # hat Brot gebacken und es gegessen
            return [], words(end, aux, *whole)
        return words(helper, aux), words(end, *whole)
    if c.tense == "past":
        return words(german.preterite(v.preterite, c.subject), aux, *whole), []
    form = german.present(v.de, v.er, c.subject)
    if joined or not v.prefix:
        return words(v.prefix + form, aux, *whole), []
    return words(form, aux, main), words(v.prefix, *whole)


def _auxiliary(c: Clause) -> str:
    """The finite modal, werden, haben or sein; empty where the verb itself is finite."""
    if c.modal is not None:
        return german.modal_form(c.modal, c.subject, past=c.tense == "past")
    if c.tense == "future":
        return german.present("werden", "wird", c.subject)
    if c.tense == "past" and not c.verb.preterite:
        return german.present(c.verb.aux, "", c.subject)
    return ""


def phrase(p: Phrase, path: str, case: Case, *, negation: str = "") -> list[Word]:
    """Any phrase in its case."""
    if isinstance(p, NounPhrase):
        return noun_phrase(p, path, case, negation)
    if isinstance(p, Both):
        first, second = phrase(p.first, f"{path}.first", case), phrase(p.second, f"{path}.second", case)
        return [*first, *words("und", f"{path}.and"), *second]
    if isinstance(p, Pronoun):
        return words(german.pronoun_form(p, case), path)
    if isinstance(p, Relative):
        return words(german.RELATIVE[case, german.gender_of(p.noun, number_of(p))], path)
    if isinstance(p, Name):
        return words(p.text, path)
    return _question_word(p, path, case)


def _question_word(p: Asked | Unsaid, path: str, case: Case) -> list[Word]:
    if isinstance(p, Unsaid):
        return []
    return words("was" if p.en == "what" else german.ASKED[case], path)


def noun_phrase(p: NounPhrase, path: str, case: Case, negation: str = "") -> list[Word]:
    """Determiner, adjective, noun, and a relative clause between commas (its last comma is the caller's)."""
    number = number_of(p)
    slot = (case, german.gender_of(p.noun, number))
    before, endings = determiner(p, slot, f"{path}.determiner", negation)
    line = before
    if p.adjective:
        line = [*line, *words(german.adjective_form(p.adjective, endings, slot), f"{path}.adjective")]
    line = [*line, *words(german.noun_form(p.noun, number, case), f"{path}.noun")]
    if p.relative:
        return with_mark([*with_mark(line, ","), *clause(p.relative, f"{path}.relative", "last")], ",")
    return line


def determiner(p: NounPhrase, slot: german.Slot, path: str, negation: str) -> tuple[list[Word], dict[german.Slot, str]]:
    """The words before adjective and noun, and the endings that an adjective takes after them."""
    d = p.determiner
    if negation:
        return words("kein" + german.EIN_ENDING[slot], path, negation), german.MIXED
    if d.kind == "the":
        return words(german.DEFINITE[slot], path), german.WEAK
    if d.kind in DER_WORDS:
        return words(DER_WORDS[d.kind] + german.DER_ENDING[slot], path), german.WEAK
    if d.kind in ("a", "my"):
        owner = pronoun_for(d.owner) if d.owner else None
        stem = owner.forms.de_possessive if owner else "ein"
        return words(stem + german.EIN_ENDING[slot], path), german.MIXED
    if d.kind == "how many":
        return [*words("wie", f"{path}.how"), *words("viel" + german.STRONG[slot], path)], german.STRONG
    text = {"name": f"{d.name}s", "number": NUMBERS.get(d.number, ""), "many": "viel" + german.STRONG[slot]}
    return words(text.get(d.kind, ""), path), german.STRONG


WELL = ADVERBIAL["well"]
NEW = ("a", "bare", "number", "many")
DER_WORDS = {"this": "dies", "every": "jed", "which": "welch"}
