"""Reading the little tables that the lexicon is written in, and the regular English endings."""

VOWELS = "aeiou"


def rows(table: str) -> list[str]:
    """The lines of a table that hold something."""
    return [line.strip() for line in table.splitlines() if line.strip()]


def cells(row: str, count: int) -> list[str]:
    """The cells of a row, filled up with empty ones to `count`."""
    found = [cell.strip() for cell in row.split("|")]
    return found + [""] * (count - len(found))


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in VOWELS


def english_s(word: str) -> str:
    """The ending -s of plurals and of the third person: box, boxes; city, cities; potato, potatoes."""
    if _ends_in_consonant_y(word):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def english_plural(noun: str) -> str:
    """The regular plural; words in -o differ one by one."""
    return noun + "es" if noun in ("potato", "tomato") else english_s(noun)


def english_past(verb: str) -> str:
    """The regular past: play, played; bake, baked; carry, carried."""
    if _ends_in_consonant_y(verb):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def english_ing(verb: str) -> str:
    """The regular -ing form: play, playing; bake, baking; lie, lying; see, seeing."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"
