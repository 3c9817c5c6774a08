"""Gold links: both bases, both kinds, and every way to get them wrong."""

import re
from pathlib import Path

import pytest

from translator.alignment.gold import GoldWords, locate, parse_links, pocket_gold, read_gold, read_word_pairs
from translator.errors import UserError

SOURCE, TARGET = "the old dog\nit\tsleeps .\n\n", "der alte Hund\nes schläft .\n\n"
GOLD = "0-0 1p2 2-1\n0p0 0-0\n\n"
ONE_BASED = "1-1 2p3 3-2\n1p1 1-1\n\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {name: tmp_path / name for name in ("source", "target", "gold", "one", "table")}
    for name, text in zip(paths, (SOURCE, TARGET, GOLD, ONE_BASED, ""), strict=True):
        paths[name].write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize(("name", "one_based"), [("gold", False), ("one", True)])
def test_both_bases_say_the_same(files: dict[str, Path], name: str, one_based: bool) -> None:
    gold = read_gold(files["source"], files["target"], files[name], one_based=one_based)

    assert gold.sure == [{(0, 0), (2, 1)}, {(0, 0)}, set()]
    assert gold.possible == [{(0, 0), (1, 2), (2, 1)}, {(0, 0)}, set()]  # every sure link is possible
    assert gold.describe() == "3 pairs, 3 sure links, 1 only possible"
    assert gold.rate(gold.sure) == {"aer": 0.0, "precision": 1.0, "recall": 1.0}
    assert gold.error([set(), set(), set()]) == 1.0


@pytest.mark.parametrize(
    ("line", "one_based", "message"),
    [
        ("1-1 0-1", True, "'0-1' counts from 0: leave out --one-based"),
        ("1-1 2p0", True, "'2p0' counts from 0"),
        ("0-0 2-1", False, "'2-1' is outside of 2 source and 3 target words; if the file counts from 1, add --one"),
        ("0-3", False, "'0-3' is outside"),
        ("3-1", True, "'3-1' is outside of 2 source and 3 target words$"),
        ("0-0 1", False, "'1' is no link"),
        ("0-0-1", False, "'0-0-1' is no link"),
        ("0x1", False, "'0x1' is no link"),
        ("-1-0", False, "'-1-0' is no link"),
        ("²-0", False, "'²-0' is no link"),
    ],
)
def test_links_that_cannot_be_are_refused(line: str, one_based: bool, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_links(line, 2, 3, one_based)


def test_the_line_is_named(files: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=rf"^{re.escape(str(files['one']))}, line 1: '2p3' is outside .*--one-based"):
        read_gold(files["source"], files["target"], files["one"])
    with pytest.raises(UserError, match="gold, line 1: '0-0' counts from 0"):
        read_gold(files["source"], files["target"], files["gold"], one_based=True)


def test_files_of_different_lengths_are_refused(files: dict[str, Path]) -> None:
    files["gold"].write_text("0-0\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"gold has 1 lines but .*source has 3"):
        read_gold(files["source"], files["target"], files["gold"])


def test_word_pairs_are_found_at_their_place_or_where_the_word_stands_alone(files: dict[str, Path]) -> None:
    """Row 2: the word is elsewhere, and written with a capital and a comma; row 3 is nowhere."""
    files["source"].write_text("the old dog\nNo, it is no Cat, no\n", encoding="utf-8")
    files["target"].write_text("der alte Hund\nes ist keine Katze,\n", encoding="utf-8")
    files["table"].write_text("h\n0\tdog\t2\thund\t2\n1\tcat\t0\tkatze\t3\n1\tno\t9\tkeine\t2\n", encoding="utf-8")

    gold = read_word_pairs(files["source"], files["target"], files["table"])

    assert gold.words == [(0, (2, 2)), (1, (4, 3))]
    assert gold.skipped == 1
    assert gold.describe() == "2 pairs, 2 known word pairs, 1 not found in the lines"


def test_a_word_is_where_it_is_said_to_be_even_if_it_stands_twice() -> None:
    assert locate("no , no , no", "no", 2) == 2
    assert locate("no , no , no", "no", 1) is None
    assert locate("a , b", ",", 1) == 1


def test_pointing_is_right_if_all_links_of_the_word_are() -> None:
    gold = GoldWords(["a b"] * 4, ["x y"] * 4, [(0, (1, 0)), (1, (1, 0)), (2, (1, 0)), (3, (1, 0))])

    right = [[(1, 0), (0, 1)], [(0, 0)], [(0, 0), (1, 0)], [(1, 1)]]

    assert gold.rate(right) == {"accuracy": 0.25}
    assert gold.error(right) == 0.75


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0\tdog\t2\thund", "table, line 2: not sentence, word"),
        ("0\tdog\tx\thund\t2", "table, line 2: not sentence, word"),
        ("7\tdog\t2\thund\t2", "table, line 2: there is no sentence 7; .*source has 3 lines"),
        ("0\tcat\t2\tkatze\t2", "table: none of its 1 word pairs stands in the lines"),
    ],
)
def test_tables_that_cannot_be_are_refused(files: dict[str, Path], row: str, message: str) -> None:
    files["table"].write_text(f"heading\n{row}\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_word_pairs(files["source"], files["target"], files["table"])


POCKET = {"kind": "pocket", "source": "en", "target": "de", "train_size": 9, "valid_size": 5, "test_size": 7, "seed": 7}


def test_the_pocket_corpus_knows_its_links() -> None:
    gold = pocket_gold({"data": POCKET}, "test")
    backward = pocket_gold({"data": POCKET | {"source": "de", "target": "en"}}, "test")

    assert len(gold.sources) == 7
    assert gold.sure == gold.possible != []
    assert (backward.sources, backward.targets) == (gold.targets, gold.sources)
    assert backward.sure == [{(t, s) for s, t in links} for links in gold.sure]
    assert len(pocket_gold({"data": POCKET}, "valid").sources) == 5
    first = pocket_gold({"data": POCKET | {"train_size": 2}}, "train")
    assert first.sources == ["On Monday the party did not end.", "Our neighbour cuts this pear and eats it."]
    assert first.targets == [
        "Am Montag hat die Party nicht geendet.",
        "Unser Nachbar schneidet diese Birne und isst sie.",
    ]
    assert first.sure == [{(0, 0), (1, 1), (2, 3), (3, 4), (4, 2), (5, 5), (6, 6)}, {(i, i) for i in range(8)}]
    assert len(pocket_gold({"data": POCKET}, "test_unseen").sources) == 7


@pytest.mark.parametrize(
    ("config", "split", "message"),
    [
        ({"data": {"kind": "files"}}, "valid", "was not trained on pocket: give --source"),
        ({}, "valid", "was not trained on pocket"),
        ({"data": POCKET}, "dev", "pocket has no split 'dev', only train, valid, test, test_unseen"),
        ({"data": POCKET | {"seed": 5}}, "valid", r"data\.seed=5: the pocket corpus"),
    ],
)
def test_other_corpora_and_splits_are_refused(config: dict[str, object], split: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        pocket_gold(config, split)
