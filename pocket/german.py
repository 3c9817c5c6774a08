"""German inflection: articles, adjective endings, pronouns, verbs."""

from .entries import Adjective, Case, Gender, Modal, Noun, Preposition, Verb
from .sentence import Number, Phrase, Pronoun, number_of, person_of

Slot = tuple[Case, Gender]
GENDERS: tuple[Gender, ...] = ("m", "f", "n", "pl")


def _table(nominative: str, accusative: str, dative: str) -> dict[Slot, str]:
    """Three rows of four endings (m, f, n, pl) as a lookup; a dash is no ending."""
    cases: tuple[tuple[Case, str], ...] = (("nom", nominative), ("acc", accusative), ("dat", dative))
    return {
        (case, gender): ending.replace("-", "")
        for case, row in cases
        for gender, ending in zip(GENDERS, row.split(), strict=True)
    }


DEFINITE = _table("der die das die", "den die das die", "dem der dem den")
RELATIVE = {**DEFINITE, ("dat", "pl"): "denen"}
DER_ENDING = _table("er e es e", "en e es e", "em er em en")  # dieser, jeder, welcher
EIN_ENDING = _table("- e - e", "en e - e", "em er em en")  # ein, kein, mein
WEAK = _table("e e e en", "en e e en", "en en en en")  # after der, dieser
MIXED = _table("er e es en", "en e es en", "en en en en")  # after ein, kein, mein
STRONG = _table("er e es e", "en e es e", "em er em en")  # after nothing, viele, numbers, Annas

ASKED = {"nom": "wer", "acc": "wen", "dat": "wem"}
CONTRACTIONS = {
    ("in", "dem"): "im", ("in", "das"): "ins", ("an", "dem"): "am", ("an", "das"): "ans",
    ("zu", "dem"): "zum", ("zu", "der"): "zur",
}  # fmt: skip


def noun_form(noun: Noun, number: Number, case: Case) -> str:
    """The noun in its case: den Jungen, mit den Kindern."""
    if number == "sg" and not noun.plural_only:
        return noun.de if case == "nom" else noun.de_oblique
    needs_n = case == "dat" and not noun.de_plural.endswith(("n", "s"))
    return noun.de_plural + "n" if needs_n else noun.de_plural


def gender_of(noun: Noun, number: Number) -> Gender:
    """The column of the tables: the plural has no gender."""
    return "pl" if number == "pl" else noun.gender


def adjective_form(adjective: Adjective, endings: dict[Slot, str], slot: Slot) -> str:
    """The adjective before its noun."""
    return adjective.stem + endings[slot]


def pronoun_form(pronoun: Pronoun, case: Case) -> str:
    """The pronoun in its case."""
    return {"nom": pronoun.forms.nom, "acc": pronoun.forms.acc, "dat": pronoun.forms.dat}[case]


def contracted(preposition: Preposition, article: str) -> str:
    """Preposition and definite article as one word where German joins them, else empty."""
    return CONTRACTIONS.get((preposition.de, article), "")


def _stem(infinitive: str) -> str:
    """The stem of the first person: mach-, fütter-, lächl-."""
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "l"
    return infinitive[:-1] if infinitive.endswith("ern") else infinitive[:-2]


def _second_person(er: str) -> str:
    """The form with "du" from that with "er": liest, machst, sitzt, mag-st."""
    stem = er[:-1] if er.endswith("t") else er
    return stem + ("t" if stem.endswith(("s", "ß", "z", "x")) else "st")


IRREGULAR_PRESENT = {
    "sein": ("bin", "bist", "ist", "sind"),
    "haben": ("habe", "hast", "hat", "haben"),
    "werden": ("werde", "wirst", "wird", "werden"),
    "mögen": ("mag", "magst", "mag", "mögen"),
    "wissen": ("weiß", "weißt", "weiß", "wissen"),
}


def _slot(subject: Phrase) -> int:
    """Which of ich, du, er, plural."""
    return 3 if number_of(subject) == "pl" else person_of(subject) - 1


def present(infinitive: str, er: str, subject: Phrase) -> str:
    """The present tense, without a separable prefix."""
    regular = (_stem(infinitive) + "e", _second_person(er), er, infinitive)
    return IRREGULAR_PRESENT.get(infinitive, regular)[_slot(subject)]


def preterite(form: str, subject: Phrase) -> str:
    """The preterite of sein, haben and the modals from its third person: war, hatte, konnte."""
    weak = form.endswith("e")
    forms = (form, form + "st", form, form + ("n" if weak else "en"))
    return forms[_slot(subject)]


def modal_form(modal: Modal, subject: Phrase, *, past: bool) -> str:
    """A modal verb; sollte looks like a preterite and has the forms of one."""
    if past or modal.singular.endswith("te"):
        return preterite(modal.preterite, subject)
    singular = modal.singular
    return (singular, singular + "st" if singular != "muss" else "musst", singular, modal.plural)[_slot(subject)]


def joined_infinitive(verb: Verb) -> str:
    """The infinitive in one word: aufmachen."""
    return verb.prefix + verb.de
