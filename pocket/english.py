"""English inflection: a or an, pronouns, possessives, the verb group."""

from .entries import Modal, Noun, Verb
from .sentence import Number, Phrase, Tense, number_of, person_of


def article(following: str) -> str:
    """The indefinite article by the first sound of the next word, which in this lexicon its letter tells."""
    return "an" if following[0] in "aeio" or following.startswith(("um", "ug", "un")) else "a"


def noun_form(noun: Noun, number: Number) -> str:
    """Singular or plural."""
    return noun.en if number == "sg" and not noun.plural_only else noun.en_plural


def third_person(subject: Phrase) -> bool:
    """Whether the present takes -s."""
    return number_of(subject) == "sg" and person_of(subject) == 3


def be(subject: Phrase, *, past: bool) -> str:
    """The finite form of "to be"."""
    if number_of(subject) == "pl" or person_of(subject) == 2:
        return "were" if past else "are"
    if past:
        return "was"
    return "am" if person_of(subject) == 1 else "is"


def present(base: str, subject: Phrase) -> str:
    """The simple present: has, goes, carries."""
    if not third_person(subject):
        return base
    return {"have": "has", "go": "goes", "do": "does"}.get(base) or with_s(base)


def with_s(verb: str) -> str:
    """The regular ending of the third person: watch, watches; carry, carries; stay, stays."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh")) else "s")


def finite(verb: Verb, subject: Phrase, tense: Tense) -> str:
    """Present or past of a full verb."""
    return verb.past if tense == "past" else present(verb.en, subject)


def modal_form(modal: Modal, subject: Phrase, tense: Tense) -> str:
    """A modal: can, could; "want" is inflected like a full verb."""
    if tense == "past":
        return modal.past
    return present(modal.full, subject) if modal.full == modal.en else modal.en


def takes_to(modal: Modal, tense: Tense) -> bool:
    """Whether a full verb with "to" speaks for the modal: wants to; had to, but must."""
    return modal.full == modal.en or (modal.full != "" and tense == "past")
