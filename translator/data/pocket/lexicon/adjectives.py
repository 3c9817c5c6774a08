"""The adjectives: `english comparative | german comparative [stem] | kinds of noun they suit`.

A dash stands for a comparative that one would not say.
"""

from .entries import Adjective
from .tables import cells, rows

TABLE = """
    old older | alt älter | adult animal thing vehicle house church bridge city castle tower tree book song
    young younger | jung jünger | man woman king queen teacher doctor farmer cook nurse actress waitress
    new newer | neu neuer | thing vehicle book school hotel bridge station hospital
    big bigger | groß größer | animal thing vehicle house garden school hospital hotel church city park forest tree
    small smaller | klein kleiner | animal thing vehicle house garden school church village child girl boy tree
    beautiful more~beautiful | schön schöner | clothes flower garden city park beach castle song picture woman bird
    expensive more~expensive | teuer teurer teur | ware hotel restaurant
    cheap cheaper | billig billiger | ware hotel restaurant
    heavy heavier | schwer schwerer | luggage heavy-thing
    red - | rot - | coloured
    blue - | blau - | clothes vehicle cup plate bag suitcase ball door umbrella
    green - | grün - | clothes car bicycle boat bag suitcase ball door umbrella grass
    black - | schwarz - | clothes car bicycle bag suitcase umbrella cat dog horse
    white - | weiß - | clothes car flower cat horse candle
    hungry hungrier | hungrig hungriger | person animal
    tired - | müde müder müd | person animal
    happy happier | glücklich glücklicher | person
    sad sadder | traurig trauriger | person song story film
    sick - | krank - | person animal
    friendly friendlier | freundlich freundlicher | person
    angry angrier | wütend wütender | adult
    clever cleverer | klug klüger | person monkey dog
    rich richer | reich reicher | adult
    famous more~famous | berühmt berühmter | artist king queen museum song
    brave braver | mutig mutiger | person dog
    lazy lazier | faul fauler | youth child cook waiter cat donkey
    fresh fresher | frisch frischer | fruit vegetable bread milk meat egg green-food
    warm warmer | warm wärmer | soup milk warm-clothes room bread
    cold colder | kalt kälter | drink served lake river water
    hot hotter | heiß heißer | cookable hot-drink
    sweet sweeter | süß süßer | fruit sweet cake
    delicious - | lecker - | food
    long longer | lang länger | text journey street bridge river scarf sentence
    interesting more~interesting | interessant interessanter | text film museum city question plan
    boring more~boring | langweilig langweiliger | text film game city
    funny funnier | lustig lustiger | story film song clothes
    difficult more~difficult | schwierig schwieriger | task language
    important more~important | wichtig wichtiger | idea message letter
    dangerous more~dangerous | gefährlich gefährlicher | wild street
    dirty dirtier | schmutzig schmutziger | clothes dish vehicle bathroom kitchen window bedroom dog
    empty - | leer - | holder vessel cup street
    broken - | kaputt - | machine window door chair bench
    modern more~modern | modern moderner | machine hospital hotel office school
    dark darker | dunkel dunkler dunkl | dark-place room
    high higher | hoch höher hoh | high-thing
    deep deeper | tief tiefer | lake river forest
"""


def _adjective(row: str) -> Adjective:
    """One line of the table; the tilde stands for the blank in "more beautiful"."""
    english, german, kinds = cells(row, 3)
    en, en_more = english.replace("-", "").split() if "-" not in english else (english.split()[0], "")
    de, de_more, *stem = german.split()
    return Adjective(
        en=en,
        de=de,
        stem=stem[0] if stem else de,
        en_more=en_more.replace("~", " "),
        de_more=de_more if en_more else "",
        kinds=tuple(kinds.split()),
    )


ADJECTIVES: tuple[Adjective, ...] = tuple(_adjective(row) for row in rows(TABLE))
ADJECTIVE = {adjective.en: adjective for adjective in ADJECTIVES}
