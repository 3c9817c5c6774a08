"""The content words that the corpus is made of."""

from .company import VERBS
from .lexicon.actions import BE, RAIN, REPORTING, SNOW
from .lexicon.adjectives import ADJECTIVES
from .lexicon.adverbials import CONTENT_ADVERBS
from .lexicon.nouns import NOUNS


def lemmas() -> dict[str, tuple[str, ...]]:
    """The English content lemmas by part of speech, each once, in the order of the lexicon."""
    verbs = (*VERBS.items, BE, RAIN, SNOW, *REPORTING)
    return {
        "noun": tuple(dict.fromkeys(noun.en for noun in NOUNS)),
        "verb": tuple(dict.fromkeys(verb.name for verb in verbs)),
        "adjective": tuple(dict.fromkeys(adjective.en for adjective in ADJECTIVES)),
        "adverb": CONTENT_ADVERBS,
    }
