"""Building a verb of the lexicon from a short description; what is regular is left out there."""

from .entries import Case, Verb
from .tables import english_ing, english_past

PARTICLES = frozenset(["on", "off", "up", "along", "back"])


def verb(
    english: str,
    german: str,
    *,
    past: str = "",
    ing: str = "",
    case: Case = "acc",
    de_prep: str = "",
    preterite: str = "",
    who: str = "",
    what: str = "",
    where: str = "",
    goes: str = "",
    how: str = "",
    mood: str = "",
    trait: str = "",
    traits: str = "",
) -> Verb:
    """A verb from its English name and its German principal parts; selectors are blank-separated."""
    base, *second = english.split()
    infinitive, er, participle, *auxiliary = german.split()
    prefix, bar, stem = infinitive.rpartition("|")
    extra = second[0] if second else ""
    return Verb(
        name=english,
        en=base,
        particle=extra if extra in PARTICLES else "",
        en_prep=extra if extra not in PARTICLES else "",
        past=past or english_past(base),
        ing=ing or english_ing(base),
        de=stem,
        er=er,
        participle=participle,
        aux="sein" if auxiliary else "haben",
        prefix=prefix if bar else "",
        de_prep=de_prep,
        case=case,
        preterite=preterite,
        who=tuple(who.split()),
        what=tuple(what.split()),
        where=tuple(where.split()),
        goes=tuple(goes.split()),
        how=tuple(how.split()),
        mood=tuple(mood.split()),
        trait=tuple(trait.split()),
        traits=tuple(traits.split()),
    )
