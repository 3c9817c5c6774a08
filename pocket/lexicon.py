"""The words of the corpus, read from the tables in `words/`: one word a row, its forms and its company in columns."""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar, get_type_hints

from .entries import Adjective, Idiom, Modal, Noun, Preposition, PronounForms, Verb

T = TypeVar("T")
FOLDER = Path(__file__).with_name("words")


def read(kind: Callable[..., T], name: str) -> list[T]:
    """The rows of a table; a column is a field of `kind`, and blanks divide what is in a field of several words.

    Cells that are missing at the end of a row are empty, as many editors remove the tabs before them.

    Raises:
        ValueError: a row with more cells than the header, by its line.
    """
    header, *rows = (line.split("\t") for line in (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines())
    several = {field for field, hint in get_type_hints(kind).items() if hint == tuple[str, ...]}
    found = []
    for number, row in enumerate(rows, 2):
        if len(row) > len(header):
            raise ValueError(f"words/{name}.tsv, line {number}: {len(row)} cells where the header has {len(header)}")
        cells = dict(zip(header, row + [""] * (len(header) - len(row)), strict=True))
        found.append(kind(**{key: tuple(cell.split()) if key in several else cell for key, cell in cells.items()}))
    return found


def _by_kind(idioms: Iterable[Idiom]) -> dict[str, list[Idiom]]:
    groups: dict[str, list[Idiom]] = {}
    for idiom in idioms:
        for kind in idiom.kinds:
            groups.setdefault(kind, []).append(idiom)
    return groups


NOUNS = read(Noun, "nouns")
NOUN = {noun.en: noun for noun in NOUNS}
ADJECTIVES = read(Adjective, "adjectives")
ADJECTIVE = {adjective.en: adjective for adjective in ADJECTIVES}
VERBS = read(Verb, "verbs")  # several rows may be one verb, in different company
FIXED_VERB = {verb.name: verb for verb in read(Verb, "fixed_verbs")}  # those that sentence patterns ask for by name
MODAL = {modal.name: modal for modal in read(Modal, "modals")}
ADVERBIAL = {idiom.en: idiom for idiom in read(Idiom, "adverbials")}
ADVERBIALS = _by_kind(ADVERBIAL.values())
LINK = {idiom.en: idiom for idiom in read(Idiom, "conjunctions")}
QUESTION = {idiom.kinds[0]: idiom for idiom in read(Idiom, "question_words")}
PREPOSITION = {preposition.name: preposition for preposition in read(Preposition, "prepositions")}
PRONOUN = {forms.name: forms for forms in read(PronounForms, "pronouns")}
NUMBERS = {number.en: number.de for number in read(SimpleNamespace, "numbers")}
# What one does next with the same thing.
SEQUELS = [(row.first, row.second) for row in read(SimpleNamespace, "sequels")]
