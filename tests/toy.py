"""A toy language whose right translations are known: every word has one counterpart, in the same order.

The words are made of few letters, so that many of them are several pieces. Some carry a comma, and one looks like
mark-up.
"""

import random

SYLLABLES = ["ba", "di", "ko", "lu", "me", "no", "ra", "su", "ti", "ve", "wa", "zo"]
LONGEST = 8  # words of a training sentence


def lexicon() -> dict[str, str]:
    """24 source words and their counterparts."""
    rng = random.Random(5)
    words: list[str] = []
    while len(words) < 46:
        word = "".join(rng.choice(SYLLABLES) for _ in range(rng.choice([1, 2, 2, 3])))
        if word not in words:
            words.append(word)
    return dict(zip(words[:23], (word.upper() for word in words[23:]), strict=True)) | {"<a/>": "<a/>"}


LEXICON = lexicon()


def expected(source: str) -> str:
    """The right translation of a sentence."""
    words = [(word.removesuffix(","), "," * word.endswith(",")) for word in source.split()]
    return " ".join(LEXICON[word] + comma for word, comma in words)


def sentence(rng: random.Random, length: int) -> str:
    """A source sentence of so many words."""
    words = [rng.choice(list(LEXICON)) for _ in range(length)]
    return " ".join(word + "," * (rng.random() < 0.1) for word in words)


def sentences(count: int, seed: int, longest: int = LONGEST) -> list[str]:
    """Source sentences of 1 to ``longest`` words."""
    rng = random.Random(seed)
    return [sentence(rng, rng.randint(1, longest)) for _ in range(count)]
