"""One random sentence of any pattern, and the word pairs it rests on."""

from collections.abc import Callable, Iterator

from . import questions, thoughts
from .clauses import clause
from .dice import Dice
from .qualities import description
from .sentence import Both, Clause, NounPhrase, Phrase, Relative, Sentence, Unsaid

Pattern = Callable[[Dice], "Sentence | None"]

PATTERNS: list[tuple[int, Pattern]] = [
    (400, lambda dice: Sentence(clause(dice))),
    (120, lambda dice: Sentence(description(dice))),
    (70, questions.yes_or_no),
    (30, questions.who),
    (40, questions.whom_or_what),
    (25, questions.where),
    (30, questions.when_or_why),
    (60, thoughts.state),
    (90, thoughts.quality),
    (50, thoughts.two_sentences),
    (60, thoughts.sequel),
    (30, thoughts.weather),
    (40, thoughts.meanwhile),
    (30, thoughts.before),
    (55, thoughts.reported),
    (50, thoughts.relative),
]


def sentence(dice: Dice) -> Sentence:
    """A sentence; a pattern whose words happened not to go together is left for another one."""
    while True:
        made = dice.weighed(PATTERNS)(dice)
        if made is not None:
            return made


def clauses_of(s: Sentence) -> Iterator[Clause]:
    """All clauses, relative ones included."""
    for c in (s.first, s.second):
        if c is not None:
            yield c
            for phrase in (c.subject, c.object):
                if isinstance(phrase, NounPhrase) and phrase.relative:
                    yield phrase.relative


def heads(phrase: Phrase | None) -> Iterator[str]:
    """The nouns that a phrase is about; pronouns and names have none."""
    if isinstance(phrase, (NounPhrase, Relative)):
        yield phrase.noun.en
    elif isinstance(phrase, Unsaid):
        yield from heads(phrase.of)
    elif isinstance(phrase, Both):
        yield from heads(phrase.first)
        yield from heads(phrase.second)
