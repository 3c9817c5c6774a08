"""Adverbs and fixed phrases of time, frequency and manner, question words, conjunctions, modals."""

from .entries import Idiom, Modal, Preposition
from .tables import cells, rows


def _idiom(row: str) -> Idiom:
    """`english | german [| links]`; without links the words correspond one to one."""
    en, de, links = cells(row, 3)
    pairs = [link.split("-") for link in links.split()] or [[str(i), str(i)] for i in range(len(en.split()))]
    return Idiom(en, de, tuple((int(i), int(j)) for i, j in pairs))


def _idioms(table: str) -> tuple[Idiom, ...]:
    return tuple(_idiom(row) for row in rows(table))


# When something happens as a habit, happened, will happen.
HABIT = _idioms("""
    today | heute
    every day | jeden Tag
    every morning | jeden Morgen
    every evening | jeden Abend
    in the morning | am Morgen | 0-0 1-0 2-1
    in the evening | am Abend | 0-0 1-0 2-1
    on Sunday | am Sonntag
    at the weekend | am Wochenende | 0-0 1-0 2-1
    in summer | im Sommer
    in winter | im Winter
""")
PAST_TIMES = _idioms("""
    yesterday | gestern
    last week | letzte Woche
    yesterday evening | gestern Abend
    three days ago | vor drei Tagen | 0-1 1-2 2-0
    on Monday | am Montag
    on Friday | am Freitag
""")
FUTURE_TIMES = _idioms("""
    tomorrow | morgen
    next week | nächste Woche
    tomorrow evening | morgen Abend
    soon | bald
    on Saturday | am Samstag
""")
LONG_AGO = _idioms("""
    last week | letzte Woche
    last year | letztes Jahr
""")
NOW = _idiom("now | jetzt")
FREQUENCY = _idioms("""
    often | oft
    always | immer
    never | nie
    sometimes | manchmal
    usually | meistens
""")
NEVER = next(idiom for idiom in FREQUENCY if idiom.en == "never")
MANNER = {
    idiom.en: idiom
    for idiom in _idioms("""
        quickly | schnell
        slowly | langsam
        loudly | laut
        quietly | leise
        carefully | vorsichtig
        well | gut
        alone | allein
        together | zusammen
    """)
}
AT_HOME = _idiom("at home | zu Hause")
HOME = _idiom("home | nach Hause | 0-0 0-1")

WHERE, WHERE_TO = _idiom("where | wo"), _idiom("where | wohin")
WHEN, WHY = _idiom("when | wann"), _idiom("why | warum")

BECAUSE, ALTHOUGH, WHILE = _idiom("because | weil"), _idiom("although | obwohl"), _idiom("while | während")
IF, WHEN_ONCE, BEFORE = _idiom("if | wenn"), _idiom("when | als"), _idiom("before | bevor")
THAT, WHETHER = _idiom("that | dass"), _idiom("whether | ob")
AND, BUT = _idiom("and | und"), _idiom("but | aber")

# Adverbs and fixed adverbials that count as content words.
CONTENT_ADVERBS = (
    *("today", "yesterday", "tomorrow", "soon", "now"),
    *(idiom.en for idiom in FREQUENCY),
    *MANNER,
)

NUMBERS = tuple(
    tuple(row.split())
    for row in rows("""
        two zwei
        three drei
        four vier
        five fünf
        six sechs
        seven sieben
        eight acht
        ten zehn
    """)
)

CAN = Modal("can", "could", "kann", "können", "konnte")
MUST = Modal("must", "had", "muss", "müssen", "musste", full="have")
MUST_NOT = Modal("must", "", "darf", "dürfen", "durfte")
MAY = Modal("may", "", "darf", "dürfen", "durfte")
SHOULD = Modal("should", "", "sollte", "sollten", "sollte")
WANT = Modal("want", "wanted", "will", "wollen", "wollte", full="want")

# English "at" is "an" or "auf" by the noun; the others have one counterpart.
SPOTS = {
    "in": Preposition("in", "in", "dat"),
    "in:auf": Preposition("in", "auf", "dat"),
    "on": Preposition("on", "auf", "dat"),
    "on:an": Preposition("on", "an", "dat"),
    "at:an": Preposition("at", "an", "dat"),
    "at:auf": Preposition("at", "auf", "dat"),
    "under": Preposition("under", "unter", "dat"),
    "behind": Preposition("behind", "hinter", "dat"),
    "next to": Preposition("next to", "neben", "dat"),
    "in front of": Preposition("in front of", "vor", "dat"),
}
# The way to a place, as the nouns name it.
GOALS = {
    "to:zu": Preposition("to", "zu", "dat"),
    "to:in": Preposition("to", "in", "acc"),
    "into": Preposition("into", "in", "acc"),
}
ONTO = Preposition("onto", "auf", "acc")
THROUGH = Preposition("through", "durch", "acc")
WITH, FOR = Preposition("with", "mit", "dat"), Preposition("for", "für", "acc")
WITHOUT = Preposition("without", "ohne", "acc")
