"""What a speaker of both languages writes for a given thought, against what the two grammars write."""

from dataclasses import replace

import pytest

from pocket import write_english, write_german
from pocket.company import VERBS
from pocket.lexicon import ADJECTIVE, ADVERBIAL, FIXED_VERB, LINK, MODAL, NOUN, PREPOSITION, QUESTION
from pocket.linked import as_text, links_between
from pocket.sentence import (
    BARE,
    EVERY,
    HOW_MANY,
    MANY,
    THE,
    THIS,
    WHICH,
    A,
    Asked,
    Both,
    Clause,
    Determiner,
    Name,
    NounPhrase,
    Prepositional,
    Pronoun,
    Quality,
    Relative,
    Sentence,
    Unsaid,
)

VERB = {f"{verb.name}/{verb.prefix}{verb.de}": verb for verb in VERBS.items}
ME, YOU, HE, SHE, WE, THEY = (Pronoun(p) for p in ("I", "you", "he", "she", "we", "they"))
ANNA, PAUL = Name("Anna", "she"), Name("Paul", "he")


def n(noun, determiner=THE, adjective=None, number="sg", relative=None):
    return NounPhrase(NOUN[noun], determiner, number, ADJECTIVE[adjective] if adjective else None, relative)


def some(noun, adjective=None):
    return n(noun, BARE, adjective, "pl")


def my(owner):
    return Determiner("my", owner=owner)


def three():
    return Determiner("number", number="three")


def v(name):
    return VERB[name]


def say(subject, verb, thing=None, **more):
    verb = v(verb) if isinstance(verb, str) else verb
    time, manner, frequency = (more.pop(key, None) for key in ("time", "manner", "frequency"))
    clause = Clause(subject, verb, object=thing, **more)
    return replace(
        clause,
        time=ADVERBIAL[time] if time else None,
        manner=ADVERBIAL[manner] if manner else None,
        frequency=ADVERBIAL[frequency] if frequency else None,
    )


def is_(subject, adjective, **more):
    return Clause(subject, FIXED_VERB["be"], quality=Quality(ADJECTIVE[adjective]), **more)


def at(spot, noun, *, determiner=THE, adjective=None):
    return Prepositional(PREPOSITION[spot], n(noun, determiner, adjective))


def to(goal, noun, **more):
    return Prepositional(PREPOSITION[goal], n(noun, **more))


def ask(clause, **more):
    return Sentence(clause, question=True, **more)


def it(noun):
    return Pronoun("it", NOUN[noun].gender)


MAN_WHO_READS = n("man", relative=say(Relative(NOUN["man"], "sg"), "read/lesen", n("book")))
BOOK_SHE_READS = n(
    "book", relative=say(n("girl"), "read/lesen", Relative(NOUN["book"], "sg"), front="object", tense="past")
)

PAIRS = [
    # genders, cases, adjective endings
    (say(n("dog"), "see/sehen", n("cat")), "The dog sees the cat.", "Der Hund sieht die Katze."),
    (say(n("cat"), "see/sehen", n("dog")), "The cat sees the dog.", "Die Katze sieht den Hund."),
    (say(n("woman"), "help/helfen", n("man")), "The woman helps the man.", "Die Frau hilft dem Mann."),
    (say(n("man"), "help/helfen", n("woman")), "The man helps the woman.", "Der Mann hilft der Frau."),
    (
        say(n("man", A, "old"), "buy/kaufen", n("hat", A, "new")),
        "An old man buys a new hat.",
        "Ein alter Mann kauft einen neuen Hut.",
    ),
    (
        say(n("girl", THE, "small"), "read/lesen", n("book", A, "interesting")),
        "The small girl reads an interesting book.",
        "Das kleine Mädchen liest ein interessantes Buch.",
    ),
    (
        say(n("child"), "drink/trinken", n("milk", BARE, "cold")),
        "The child drinks cold milk.",
        "Das Kind trinkt kalte Milch.",
    ),
    (say(WE, "drink/trinken", n("coffee", BARE, "hot")), "We drink hot coffee.", "Wir trinken heißen Kaffee."),
    (
        say(n("boy", EVERY), "trust/vertrauen", n("student", THIS)),
        "Every boy trusts this student.",
        "Jeder Junge vertraut diesem Studenten.",
    ),
    (
        say(n("child", three(), "hungry", "pl"), "eat/essen", n("apple", MANY, "sweet", "pl")),
        "Three hungry children eat many sweet apples.",
        "Drei hungrige Kinder essen viele süße Äpfel.",
    ),
    (
        say(n("child", number="pl"), "thank/danken", n("friend", my(THEY), None, "pl")),
        "The children thank their friends.",
        "Die Kinder danken ihren Freunden.",
    ),
    (
        say(ANNA, "visit/besuchen", n("brother", Determiner("name", name="Paul"), "sick")),
        "Anna visits Paul's sick brother.",
        "Anna besucht Pauls kranken Bruder.",
    ),
    (
        say(n("sister"), "love/lieben", n("dog", my(SHE))),
        "The sister loves her dog.",
        "Die Schwester liebt ihren Hund.",
    ),
    (
        say(n("cat"), "look for/suchen", n("ball", my(it("cat")))),
        "The cat looks for its ball.",
        "Die Katze sucht ihren Ball.",
    ),
    (
        say(n("dog"), "look for/suchen", n("bone", my(it("dog")))),
        "The dog looks for its bone.",
        "Der Hund sucht seinen Knochen.",
    ),
    (
        say(n("king", A, "rich"), "give/geben", n("key", A, "expensive"), recipient=n("child")),
        "A rich king gives the child an expensive key.",
        "Ein reicher König gibt dem Kind einen teuren Schlüssel.",
    ),
    # animals feed, people eat
    (say(n("horse"), "eat/fressen", n("hay", BARE)), "The horse eats hay.", "Das Pferd frisst Heu."),
    # persons of the verb
    (say(YOU, "sleep/schlafen"), "You sleep.", "Du schläfst."),
    (say(ME, "read/lesen", n("letter", THIS)), "I read this letter.", "Ich lese diesen Brief."),
    (
        say(Both(ANNA, PAUL), "dance/tanzen", manner="together"),
        "Anna and Paul dance together.",
        "Anna und Paul tanzen zusammen.",
    ),
    (say(ME, "feed/füttern", n("rabbit", number="pl")), "I feed the rabbits.", "Ich füttere die Kaninchen."),
    # separable verbs
    (
        say(n("woman"), "turn on/einschalten", n("lamp")),
        "The woman turns on the lamp.",
        "Die Frau schaltet die Lampe ein.",
    ),
    (say(SHE, "turn on/einschalten", it("lamp")), "She turns it on.", "Sie schaltet sie ein."),
    (say(HE, "look for/suchen", it("key")), "He looks for it.", "Er sucht ihn."),
    (
        say(n("father"), "pick up/abholen", n("daughter"), modal=MODAL["must"]),
        "The father must pick up the daughter.",
        "Der Vater muss die Tochter abholen.",
    ),
    (
        say(n("train"), "arrive/ankommen", tense="past", time="yesterday"),
        "The train arrived yesterday.",
        "Der Zug ist gestern angekommen.",
    ),
    # tenses
    (
        say(n("dog"), "eat/fressen", n("meat"), tense="past"),
        "The dog ate the meat.",
        "Der Hund hat das Fleisch gefressen.",
    ),
    (
        say(n("child", number="pl"), "go/gehen", tense="past", goal=to("to:zu", "school")),
        "The children went to the school.",
        "Die Kinder sind zur Schule gegangen.",
    ),
    (
        say(n("baker"), "bake/backen", n("cake", A), tense="future", time="tomorrow", front="time"),
        "Tomorrow the baker will bake a cake.",
        "Morgen wird der Bäcker einen Kuchen backen.",
    ),
    (
        replace(say(n("boy"), "read/lesen", n("newspaper", A), tense="progressive"), time=ADVERBIAL["now"]),
        "The boy is reading a newspaper now.",
        "Der Junge liest jetzt eine Zeitung.",
    ),
    (is_(n("soup"), "cold", tense="past"), "The soup was cold.", "Die Suppe war kalt."),
    # verb second, time before object, manner before something new
    (
        say(HE, "read/lesen", n("book"), time="in the evening", front="time"),
        "In the evening he reads the book.",
        "Am Abend liest er das Buch.",
    ),
    (
        say(SHE, "cook/kochen", n("egg", A), manner="quickly"),
        "She cooks an egg quickly.",
        "Sie kocht schnell ein Ei.",
    ),
    (
        say(n("nurse"), "drink/trinken", n("tea", BARE), frequency="often"),
        "The nurse often drinks tea.",
        "Die Krankenschwester trinkt oft Tee.",
    ),
    # modals
    (
        say(n("student"), "write/schreiben", n("letter", A), modal=MODAL["want"]),
        "The student wants to write a letter.",
        "Der Student will einen Brief schreiben.",
    ),
    (say(YOU, "swim/schwimmen", modal=MODAL["can"], tense="past"), "You could swim.", "Du konntest schwimmen."),
    (
        say(n("bird"), "fly/fliegen", modal=MODAL["can"], negated=True),
        "The bird cannot fly.",
        "Der Vogel kann nicht fliegen.",
    ),
    (
        say(n("boy"), "dance/tanzen", modal=MODAL["must not"], negated=True),
        "The boy must not dance.",
        "Der Junge darf nicht tanzen.",
    ),
    (
        say(THEY, "sleep/schlafen", modal=MODAL["want"], negated=True),
        "They do not want to sleep.",
        "Sie wollen nicht schlafen.",
    ),
    (say(HE, "work/arbeiten", modal=MODAL["must"], tense="past"), "He had to work.", "Er musste arbeiten."),
    (
        say(SHE, "work/arbeiten", modal=MODAL["must"], tense="past", negated=True),
        "She did not have to work.",
        "Sie musste nicht arbeiten.",
    ),
    (
        say(n("cat", THIS, None, "pl"), "understand/verstehen", n("word", A), manner="well"),
        "These cats understand a word well.",
        "Diese Katzen verstehen ein Wort gut.",
    ),
    # negation
    (
        say(n("man"), "read/lesen", n("book"), negated=True),
        "The man does not read the book.",
        "Der Mann liest das Buch nicht.",
    ),
    (
        say(n("man"), "read/lesen", n("book", A), negated=True),
        "The man does not read a book.",
        "Der Mann liest kein Buch.",
    ),
    (
        say(n("girl"), "buy/kaufen", some("apple", "sweet"), negated=True, tense="past"),
        "The girl did not buy sweet apples.",
        "Das Mädchen hat keine süßen Äpfel gekauft.",
    ),
    (is_(n("dog"), "tired", negated=True), "The dog is not tired.", "Der Hund ist nicht müde."),
    (
        say(n("child", number="pl"), "play/spielen", negated=True, place=at("in", "garden")),
        "The children do not play in the garden.",
        "Die Kinder spielen nicht im Garten.",
    ),
    (
        say(n("uncle"), "wait for/warten", n("bus"), negated=True),
        "The uncle does not wait for the bus.",
        "Der Onkel wartet nicht auf den Bus.",
    ),
    # prepositions
    (
        say(n("cat"), "sleep/schlafen", place=at("under", "tree", determiner=A, adjective="old")),
        "The cat sleeps under an old tree.",
        "Die Katze schläft unter einem alten Baum.",
    ),
    (
        say(n("key"), "lie/liegen", place=at("on", "table")),
        "The key lies on the table.",
        "Der Schlüssel liegt auf dem Tisch.",
    ),
    (
        say(n("policeman"), "stand/stehen", place=at("in-front-of", "house")),
        "The policeman stands in front of the house.",
        "Der Polizist steht vor dem Haus.",
    ),
    (
        say(n("boy"), "run/laufen", goal=to("into", "house")),
        "The boy runs into the house.",
        "Der Junge läuft ins Haus.",
    ),
    (
        say(PAUL, "go/gehen", goal=to("to:in", "city"), companion=to("with", "friend", determiner=my(HE))),
        "Paul goes to the city with his friend.",
        "Paul geht mit seinem Freund in die Stadt.",
    ),
    (
        say(n("aunt"), "bake/backen", n("cake", A), companion=to("for", "uncle")),
        "The aunt bakes a cake for the uncle.",
        "Die Tante backt einen Kuchen für den Onkel.",
    ),
    (
        say(n("tourist"), "drive/fahren", goal=ADVERBIAL["home"], manner="slowly"),
        "The tourist drives home slowly.",
        "Der Tourist fährt langsam nach Hause.",
    ),
    # comparison
    (
        Clause(n("dog"), FIXED_VERB["be"], quality=Quality(ADJECTIVE["big"], than=n("cat"))),
        "The dog is bigger than the cat.",
        "Der Hund ist größer als die Katze.",
    ),
    (
        Clause(n("tower"), FIXED_VERB["be"], quality=Quality(ADJECTIVE["old"], than=n("church"), equal=True)),
        "The tower is as old as the church.",
        "Der Turm ist so alt wie die Kirche.",
    ),
    # compounds that are two words in English
    (
        say(n("bus driver"), "repair/reparieren", n("washing machine", THE, "broken")),
        "The bus driver repairs the broken washing machine.",
        "Der Busfahrer repariert die kaputte Waschmaschine.",
    ),
    # relative clauses
    (is_(MAN_WHO_READS, "tired"), "The man who reads the book is tired.", "Der Mann, der das Buch liest, ist müde."),
    (
        is_(BOOK_SHE_READS, "funny"),
        "The book that the girl read is funny.",
        "Das Buch, das das Mädchen gelesen hat, ist lustig.",
    ),
]

LINKED = [
    (
        Sentence(is_(n("woman"), "tired"), LINK["because"], say(SHE, "work/arbeiten", tense="past")),
        "The woman is tired because she worked.",
        "Die Frau ist müde, weil sie gearbeitet hat.",
    ),
    (
        Sentence(say(HE, "sleep/schlafen"), LINK["if"], is_(n("farmer"), "tired"), subordinate_first=True),
        "If the farmer is tired, he sleeps.",
        "Wenn der Bauer müde ist, schläft er.",
    ),
    (
        Sentence(say(n("teacher"), FIXED_VERB["say"]), LINK["that"], say(n("mother"), "get up/aufstehen")),
        "The teacher says that the mother gets up.",
        "Der Lehrer sagt, dass die Mutter aufsteht.",
    ),
    (
        Sentence(
            say(HE, FIXED_VERB["know"], negated=True),
            LINK["whether"],
            say(n("girl"), "sing/singen", n("song", A), modal=MODAL["can"]),
        ),
        "He does not know whether the girl can sing a song.",
        "Er weiß nicht, ob das Mädchen ein Lied singen kann.",
    ),
    (
        Sentence(
            say(n("cat"), "sleep/schlafen", tense="past"),
            LINK["when"],
            say(n("guest"), "come back/zurückkommen", tense="past"),
            subordinate_first=True,
        ),
        "When the guest came back, the cat slept.",
        "Als der Gast zurückgekommen ist, hat die Katze geschlafen.",
    ),
    (
        Sentence(is_(n("soup"), "hot"), LINK["but"], say(n("girl"), "eat/essen", it("soup"))),
        "The soup is hot, but the girl eats it.",
        "Die Suppe ist heiß, aber das Mädchen isst sie.",
    ),
    (
        Sentence(say(n("woman"), "buy/kaufen", n("table", A)), None, is_(it("table"), "heavy")),
        "The woman buys a table. It is heavy.",
        "Die Frau kauft einen Tisch. Er ist schwer.",
    ),
    (
        Sentence(say(PAUL, "open/aufmachen", n("letter")), LINK["and"], say(Unsaid(PAUL), "read/lesen", it("letter"))),
        "Paul opens the letter and reads it.",
        "Paul macht den Brief auf und liest ihn.",
    ),
    (
        Sentence(
            say(SHE, "bake/backen", n("bread", BARE), tense="past"),
            LINK["and"],
            say(Unsaid(SHE), "eat/essen", it("bread"), tense="past"),
        ),
        "She baked bread and ate it.",
        "Sie hat Brot gebacken und es gegessen.",
    ),
    (ask(say(n("dog"), "sleep/schlafen")), "Does the dog sleep?", "Schläft der Hund?"),
    (ask(say(n("dog"), "sleep/schlafen", tense="past")), "Did the dog sleep?", "Hat der Hund geschlafen?"),
    (
        ask(say(n("goat"), "sleep/schlafen", modal=MODAL["must"], tense="past")),
        "Did the goat have to sleep?",
        "Musste die Ziege schlafen?",
    ),
    (ask(is_(n("apple"), "fresh")), "Is the apple fresh?", "Ist der Apfel frisch?"),
    (ask(say(Asked("who"), "read/lesen", n("book"))), "Who reads the book?", "Wer liest das Buch?"),
    (
        ask(say(n("girl"), "drink/trinken", Asked("what"), front="object")),
        "What does the girl drink?",
        "Was trinkt das Mädchen?",
    ),
    (
        ask(say(n("man"), "help/helfen", Asked("who"), front="object")),
        "Who does the man help?",
        "Wem hilft der Mann?",
    ),
    (
        ask(say(n("boy"), "buy/kaufen", n("hat", WHICH), front="object", tense="past")),
        "Which hat did the boy buy?",
        "Welchen Hut hat der Junge gekauft?",
    ),
    (
        ask(say(n("king"), "thank/danken", n("cook", HOW_MANY, None, "pl"), front="object")),
        "How many cooks does the king thank?",
        "Wie vielen Köchen dankt der König?",
    ),
    (
        ask(replace(say(n("child"), "cry/weinen"), asked=QUESTION["reason"], front="asked")),
        "Why does the child cry?",
        "Warum weint das Kind?",
    ),
    (
        ask(replace(say(n("queen"), "travel/reisen", tense="future"), asked=QUESTION["goal"], front="asked")),
        "Where will the queen travel?",
        "Wohin wird die Königin reisen?",
    ),
]
CASES = [*((Sentence(clause), en, de) for clause, en, de in PAIRS), *LINKED]


@pytest.mark.parametrize(("sentence", "english", "german"), CASES, ids=[en for _, en, _ in CASES])
def test_a_speaker_would_say_the_same(sentence, english, german):
    assert (as_text(write_english.write(sentence)), as_text(write_german.write(sentence))) == (english, german)


ALIGNED = [
    # Der Busfahrer wartet nicht auf den Zug.
    (
        say(n("bus driver"), "wait for/warten", n("train"), negated=True),
        "0-0 1-1 2-1 3-2 4-3 5-2 6-4 7-5 8-6",
    ),
    # The woman turns it on: Die Frau schaltet sie ein
    (say(n("woman"), "turn on/einschalten", it("lamp")), "0-0 1-1 2-2 2-4 3-3 4-4"),
    # The man did not read a book: Der Mann hat kein Buch gelesen
    (say(n("man"), "read/lesen", n("book", A), tense="past", negated=True), "0-0 1-1 2-2 3-3 4-5 5-3 6-4"),
    # The boy ran into the house: Der Junge ist ins Haus gelaufen
    (say(n("boy"), "run/laufen", tense="past", goal=to("into", "house")), "0-0 1-1 2-2 2-5 3-3 4-3 5-4"),
    # He cannot help me: Er kann mir nicht helfen
    (say(HE, "help/helfen", ME, modal=MODAL["can"], negated=True), "0-0 1-1 1-3 2-4 3-2"),
]


@pytest.mark.parametrize(("clause", "links"), ALIGNED)
def test_links_join_the_words_that_translate_each_other(clause, links):
    found = links_between(write_english.write(Sentence(clause)), write_german.write(Sentence(clause)))
    assert " ".join(f"{i}-{j}" for i, j in found) == links
