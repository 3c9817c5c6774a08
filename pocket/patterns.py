"""One random sentence of any pattern, and the word pairs it rests on."""

from collections.abc import Callable, Iterator

from . import questions, thoughts
from .clauses import clause
from .dice import Dice, spread
from .qualities import description
from .sentence import Both, Clause, NounPhrase, Phrase, Relative, Sentence, Unsaid

Pattern = Callable[[Dice], "Sentence | None"]

PATTERNS: tuple[Pattern, ...] = spread(
    (80, lambda dice: Sentence(clause(dice))),
    (24, lambda dice: Sentence(description(dice))),
    (14, questions.yes_or_no),
    (6, questions.who),
    (8, questions.whom_or_what),
    (5, questions.where),
    (6, questions.when_or_why),
    (12, thoughts.state),
    (18, thoughts.quality),
    (10, thoughts.two_sentences),
    (12, thoughts.sequel),
    (6, thoughts.weather),
    (8, thoughts.meanwhile),
    (6, thoughts.before),
    (11, thoughts.reported),
    (10, thoughts.relative),
)


def sentence(dice: Dice) -> Sentence:
    """A sentence; a pattern whose words happened not to go together is left for another one."""
    while True:
        made = dice.pick(PATTERNS)(dice)
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
