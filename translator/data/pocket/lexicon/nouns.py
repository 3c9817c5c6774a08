"""The nouns: one line each, `english | gender german plural | more kinds | spots`.

A star marks a weak noun (der Junge, den Jungen). `man/men` gives an irregular plural. A spot says how
one can be there: `in` is in + dative, `at:an` is English "at" and German "an". The last one may say how one
gets there: `into`, or `to` with its German preposition.
"""

from .entries import Gender, Noun
from .tables import cells, english_plural, rows

PEOPLE = {
    "person he adult": """
        man/men | m Mann Männer
        father | m Vater Väter | family one
        brother | m Bruder Brüder | family youth
        uncle | m Onkel Onkel | family
        grandfather | m Großvater Großväter | family one
        king | m König Könige | noble
        teacher | m Lehrer Lehrer | worker
        doctor | m Arzt Ärzte | worker
        farmer | m Bauer* Bauern | worker
        cook | m Koch Köche | worker
        student | m Student* Studenten | youth
        neighbour | m Nachbar* Nachbarn | friend
        baker | m Bäcker Bäcker | worker
        gardener | m Gärtner Gärtner | worker
        policeman/policemen | m Polizist* Polizisten | worker
        waiter | m Kellner Kellner | worker
        bus driver | m Busfahrer Busfahrer | worker
        taxi driver | m Taxifahrer Taxifahrer | worker
        painter | m Maler Maler | worker artist
        guest | m Gast Gäste
        tourist | m Tourist* Touristen
        friend | m Freund Freunde | friend youth
        engineer | m Ingenieur Ingenieure | worker
    """,
    "person he child": """
        boy | m Junge* Jungen
        son | m Sohn Söhne | family
    """,
    "person she adult": """
        woman/women | f Frau Frauen
        mother | f Mutter Mütter | family one
        sister | f Schwester Schwestern | family youth
        aunt | f Tante Tanten | family
        grandmother | f Großmutter Großmütter | family one
        queen | f Königin Königinnen | noble
        nurse | f Krankenschwester Krankenschwestern | worker
        actress | f Schauspielerin Schauspielerinnen | worker artist
        waitress | f Kellnerin Kellnerinnen | worker
        dancer | f Tänzerin Tänzerinnen | worker artist
    """,
    "person she child": """
        girl | n Mädchen Mädchen
        daughter | f Tochter Töchter | family
    """,
    "person child": """
        child/children | n Kind Kinder
    """,
    "person they adult": """
        parents | pl Eltern | family
    """,
}

ANIMALS = {
    "animal it": """
        dog | m Hund Hunde | pet runner barker hunter meat-eater
        cat | f Katze Katzen | pet runner hunter meat-eater climber
        horse | n Pferd Pferde | runner rideable grass-eater
        cow | f Kuh Kühe | grass-eater
        sheep/sheep | n Schaf Schafe | grass-eater
        goat | f Ziege Ziegen | grass-eater climber
        pig | n Schwein Schweine | plant-eater
        rabbit | n Kaninchen Kaninchen | pet runner plant-eater
        guinea pig | n Meerschweinchen Meerschweinchen | pet plant-eater
        donkey | m Esel Esel | plant-eater
        bird | m Vogel Vögel | flyer singer
        duck | f Ente Enten | flyer swimmer
        fish/fish | m Fisch Fische | swimmer prey
        frog | m Frosch Frösche | swimmer
        mouse/mice | f Maus Mäuse | runner prey plant-eater
        bear | m Bär* Bären | wild runner climber meat-eater swimmer
        lion | m Löwe* Löwen | wild runner meat-eater hunter
        elephant | m Elefant* Elefanten | wild plant-eater
        monkey | m Affe* Affen | wild climber plant-eater
        snake | f Schlange Schlangen | wild
        wolf/wolves | m Wolf Wölfe | wild runner meat-eater hunter
    """,
}

FOOD = {
    "food it piece": """
        apple | m Apfel Äpfel | fruit plant-food
        pear | f Birne Birnen | fruit plant-food
        orange | f Orange Orangen | fruit
        banana | f Banane Bananen | fruit plant-food
        carrot | f Karotte Karotten | vegetable plant-food cookable
        potato | f Kartoffel Kartoffeln | vegetable cookable
        tomato | f Tomate Tomaten | vegetable
        egg | n Ei Eier | cookable whole
        cake | m Kuchen Kuchen | baked
    """,
    "food it mass": """
        bread | n Brot | baked plant-food
        cheese | m Käse | cold-food
        soup | f Suppe | cookable served liquid
        rice | m Reis | cookable served
        meat | n Fleisch | cookable meat
        chocolate | f Schokolade | cold-food sweet
    """,
    "feed it mass": """
        grass | n Gras | green-food
        hay | n Heu | green-food
    """,
    "feed it piece": """
        bone | m Knochen Knochen | meat thing
    """,
    "drink it mass": """
        water | n Wasser | plain
        milk | f Milch | plain
        tea | m Tee | hot-drink
        coffee | m Kaffee | hot-drink
        lemonade | f Limonade | sweet
        apple juice | m Apfelsaft | sweet
        orange juice | m Orangensaft | sweet
    """,
}

TEXTS = {
    "text it": """
        book | n Buch Bücher | portable long-text ware
        newspaper | f Zeitung Zeitungen | portable ware
        letter | m Brief Briefe | portable writing post
        postcard | f Postkarte Postkarten | portable writing post ware coloured
        message | f Nachricht Nachrichten | writing post
        story | f Geschichte Geschichten | writing long-text tellable
        poem | n Gedicht Gedichte | writing learnable long-text
        love letter | m Liebesbrief Liebesbriefe | portable writing post
    """,
    "idea it": """
        question | f Frage Fragen | task
        answer | f Antwort Antworten | task
        sentence | m Satz Sätze | task learnable
        word | n Wort Wörter | learnable task
        language | f Sprache Sprachen | learnable
        song | n Lied Lieder | learnable sung
        problem | n Problem Probleme | task
        plan | m Plan Pläne
    """,
    "event it": """
        concert | n Konzert Konzerte
        film | m Film Filme
        game | n Spiel Spiele
        party | f Party Partys
        journey | f Reise Reisen
    """,
}

THINGS = {
    "thing it clothes coloured ware portable": """
        hat | m Hut Hüte
        coat | m Mantel Mäntel | worn warm-clothes
        winter coat | m Wintermantel Wintermäntel | worn warm-clothes
        dress | n Kleid Kleider | dressy
        shirt | n Hemd Hemden | worn
        shoe | m Schuh Schuhe | worn pair
        jacket | f Jacke Jacken | worn warm-clothes
        scarf/scarves | m Schal Schals | worn warm-clothes
        skirt | m Rock Röcke | dressy
    """,
    "thing it ware": """
        lamp | f Lampe Lampen | device
        radio | n Radio Radios | device machine portable
        computer | m Computer Computer | device machine
        washing machine | f Waschmaschine Waschmaschinen | device machine heavy-thing
        coffee machine | f Kaffeemaschine Kaffeemaschinen | device machine
        camera | f Kamera Kameras | portable machine
        clock | f Uhr Uhren | machine
        key | m Schlüssel Schlüssel | portable small-thing
        bag | f Tasche Taschen | portable coloured luggage holder
        suitcase | m Koffer Koffer | portable coloured luggage holder
        basket | m Korb Körbe | portable luggage holder
        box | f Kiste Kisten | portable luggage holder
        umbrella | m Regenschirm Regenschirme | portable coloured
        knife/knives | n Messer Messer | portable small-thing dish
        spoon | m Löffel Löffel | portable small-thing dish
        plate | m Teller Teller | portable dish coloured
        cup | f Tasse Tassen | portable dish coloured
        glass | n Glas Gläser | portable dish vessel
        bottle | f Flasche Flaschen | portable vessel holder
        ball | m Ball Bälle | portable toy coloured
        doll | f Puppe Puppen | portable toy
        mirror | m Spiegel Spiegel
        picture | n Bild Bilder | painted
        photo | n Foto Fotos | portable small-thing
        guitar | f Gitarre Gitarren | portable
        ring | m Ring Ringe | portable small-thing
        gift | n Geschenk Geschenke | portable small-thing
        flower | f Blume Blumen | portable coloured plant painted
        candle | f Kerze Kerzen | portable coloured
    """,
    "vehicle it ware": """
        car | n Auto Autos | coloured own spot machine
        bicycle | n Fahrrad Fahrräder | coloured own machine
        bus | m Bus Busse | awaited
        train | m Zug Züge | awaited
        ship | n Schiff Schiffe | built
        boat | n Boot Boote | built coloured own
    """,
}

PLACES = {
    "place it": """
        house | n Haus Häuser | built home view | in, behind, in front of, into
        garden | m Garten Gärten | outdoors crossable view | in, into
        kitchen | f Küche Küchen | home room | in, into
        bathroom | n Badezimmer Badezimmer | room | in, into
        bedroom | n Schlafzimmer Schlafzimmer | home room | in, into
        living room | n Wohnzimmer Wohnzimmer | home room | in, into
        cellar | m Keller Keller | room dark-place | in, into
        school | f Schule Schulen | workplace | in, behind, in front of, to:zu
        office | n Büro Büros | workplace room | in, to:in
        hospital | n Krankenhaus Krankenhäuser | workplace | in, behind, in front of, to:in
        hotel | n Hotel Hotels | workplace built | in, behind, in front of, to:zu
        restaurant | n Restaurant Restaurants | workplace | in, behind, in front of, to:in
        museum | n Museum Museen | sight | in, behind, in front of, to:in
        church | f Kirche Kirchen | sight built | in, behind, in front of, to:in
        library | f Bibliothek Bibliotheken | workplace | in, to:in
        cinema | n Kino Kinos | | in, in front of, to:in
        bakery | f Bäckerei Bäckereien | workplace | in, to:zu
        station | m Bahnhof Bahnhöfe | town built | at:an, behind, in front of, to:zu
        bus stop | f Bushaltestelle Bushaltestellen | town | at:an, to:zu
        market | m Markt Märkte | town | at:auf, to:zu
        bridge | f Brücke Brücken | built town view | on, under, to:zu
        city | f Stadt Städte | region sight | in, to:in
        village | n Dorf Dörfer | region view | in, to:in
        park | m Park Parks | outdoors crossable view | in, to:in
        forest | m Wald Wälder | outdoors crossable wilds view dark-place | in, to:in
        meadow | f Wiese Wiesen | outdoors view | in:auf
        playground | m Spielplatz Spielplätze | outdoors | at:auf, to:zu
        street | f Straße Straßen | outdoors road dark-place | in:auf
        beach | m Strand Strände | outdoors view | on:an, to:zu
        lake | m See Seen | outdoors view swimmable | at:an, in, to:zu
        river | m Fluss Flüsse | outdoors view swimmable | in, at:an, to:zu
        castle | n Schloss Schlösser | sight built view | in, behind, in front of, to:zu
        tower | m Turm Türme | sight built view high-thing | next to, behind, to:zu
        mountain | m Berg Berge | view high-thing | on, to:zu
        swimming pool | n Schwimmbad Schwimmbäder | swimmable-inside | in, to:in
    """,
    "thing it furniture ware": """
        table | m Tisch Tische | heavy-thing | on, under, next to
        kitchen table | m Küchentisch Küchentische | heavy-thing | on, under, next to
        chair | m Stuhl Stühle | seat | on, under, next to, behind
        bed | n Bett Betten | heavy-thing | in, on, under, next to
        sofa | n Sofa Sofas | seat heavy-thing | on, behind, next to
        bench | f Bank Bänke | seat | on, under, next to
        cupboard | m Schrank Schränke | heavy-thing holder | in, next to, behind
    """,
    "part it": """
        door | f Tür Türen | coloured openable | behind, in front of, next to
        window | n Fenster Fenster | openable | at:an, in front of
        room | n Zimmer Zimmer | room home | in, into
        tree | m Baum Bäume | plant high-thing painted | under, behind, next to
    """,
}

NAMES = (
    ("Anna", "she"), ("Paul", "he"), ("Maria", "she"), ("Peter", "he"), ("Emma", "she"),
    ("Martin", "he"), ("Julia", "she"), ("David", "he"), ("Laura", "she"), ("Daniel", "he"),
)  # fmt: skip


def _noun(kinds: str, row: str) -> Noun:
    """One line of a table: weak nouns take their plural form in the oblique singular."""
    english, german, more, spots = cells(row, 4)
    singular, _, plural = english.partition("/")
    gender, de, *rest = german.split()
    checked: Gender = "m" if gender == "m" else "f" if gender == "f" else "n" if gender == "n" else "pl"
    bare = de.rstrip("*")
    de_plural = rest[0] if rest else bare
    return Noun(
        en=singular,
        en_plural=plural or (singular if checked == "pl" else english_plural(singular)),
        de=bare,
        de_oblique=de_plural if de.endswith("*") else bare,
        de_plural=de_plural,
        gender=checked,
        sort=kinds.split(maxsplit=1)[0],
        kinds=frozenset((*kinds.split(), *more.split(), singular.replace(" ", "-"))),
        spots=tuple(spot.strip() for spot in spots.split(",") if spot.strip()),
    )


NOUNS: tuple[Noun, ...] = tuple(
    _noun(kinds, row)
    for group in (PEOPLE, ANIMALS, FOOD, TEXTS, THINGS, PLACES)
    for kinds, table in group.items()
    for row in rows(table)
)
NOUN = {noun.en: noun for noun in NOUNS}
