"""Reading the tables of words."""

from pathlib import Path

import pytest

from pocket import lexicon
from pocket.entries import Idiom, Noun


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lexicon, "FOLDER", tmp_path)
    return tmp_path / "table.tsv"


def test_a_column_is_a_field_and_cells_at_the_end_may_be_missing(table: Path):
    table.write_text("de\ten\tlinks\tkinds\nam Abend\tin the evening\t0-0 1-0 2-1\n", encoding="utf-8")
    assert lexicon.read(Idiom, "table") == [Idiom("in the evening", "am Abend", ("0-0", "1-0", "2-1"), ())]


def test_a_row_with_too_many_cells_is_named(table: Path):
    table.write_text("en\tde\tlinks\ntoday\theute\t0-0\nsoon\tbald\t0-0\t\thabit\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"words/table\.tsv, line 3: 5 cells where the header has 3"):
        lexicon.read(Idiom, "table")


def test_a_noun_is_a_kind_of_its_own():
    noun = Noun("bus stop", "bus stops", "f", "Haltestelle", "Haltestelle", "Haltestellen", ("place", "town"), ())
    assert noun.sort == "place"
    assert noun.has("town", "nothing")
    assert noun.has("bus-stop")
    assert not noun.has("bus")


def test_every_name_in_a_table_stands_in_its_own():
    named = {spot for noun in lexicon.NOUNS for spot in noun.spots}
    assert named <= set(lexicon.PREPOSITION)
    assert {how for verb in lexicon.VERBS for how in verb.how} <= set(lexicon.ADVERBIAL)
    assert {name for pair in lexicon.SEQUELS for name in pair} <= {verb.name for verb in lexicon.VERBS}
