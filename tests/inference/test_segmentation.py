"""Over-long lines: split where it hurts least, crop, or refuse."""

import itertools
import logging

import pytest

from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference.segmentation import LONGEST_WORD, Part, line_parts, split_points


def pieces_of(text: str) -> list[str]:
    """One piece a word."""
    return ["\u2581" + word for word in text.split()]


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("a b c. d e f g", 5, ["a b c.", "d e f g"]),
        ("a. b c. d e", 4, ["a. b c.", "d e"]),  # the end nearest to the limit, not the first
        ("a b c d e f g", 3, ["a b c", "d e f", "g"]),
        ("a b! c” d?» e f", 4, ["a b! c” d?»", "e f"]),
        ("a b c", 3, ["a b c"]),
    ],
)
def test_split_prefers_the_last_end_of_a_sentence_then_the_last_space(text: str, limit: int, parts: list[str]) -> None:
    cuts = split_points(pieces_of(text), limit)

    words = text.split()
    assert [" ".join(words[a:b]) for a, b in zip([0, *cuts], cuts, strict=False)] == parts


def test_words_are_kept_whole_where_they_fit() -> None:
    assert split_points(["\u2581a", "b", "\u2581c", "d", "\u2581e"], 3) == [2, 5]


def test_a_word_without_spaces_is_cut_at_the_limit() -> None:
    assert split_points(["\u2581a", *"bcdefg"], 3) == [3, 6, 7]


def test_two_neighbours_hold_more_than_the_limit_so_parts_are_bounded() -> None:
    pieces = pieces_of("a. " + "b " * 97 + "c. d. " * 31)

    cuts = [0, *split_points(pieces, 7)]

    assert all(third - first > 7 for first, third in zip(cuts, cuts[2:], strict=False))
    assert all(0 < end - start <= 7 for start, end in itertools.pairwise(cuts))


def parts(tokenizer: Tokenizer, text: str, limit: int, on_long: str = "split") -> list[Part]:
    return line_parts(text, 4, tokenizer, limit, on_long, 5)


def test_exactly_the_limit_is_not_too_long(toy_tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture) -> None:
    text = "zono su waba dino"
    length = len(toy_tokenizer.encode(text))

    for on_long in ("split", "crop", "error"):
        assert [p.ids for p in parts(toy_tokenizer, text, length, on_long)] == [toy_tokenizer.encode(text)]
    assert caplog.records == []


def test_one_more_is_told_with_line_and_both_lengths(
    toy_tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture
) -> None:
    text = "zono su waba dino"
    ids = toy_tokenizer.encode(text)
    told = f"line 5: {len(ids)} pieces where {len(ids) - 1} are allowed"

    split = parts(toy_tokenizer, text, len(ids) - 1)
    assert [i for part in split for i in part.ids] == ids
    assert [part.start for part in split] == [0, len(split[0].ids)]
    assert [part.line for part in split] == [4, 4]
    (cropped,) = parts(toy_tokenizer, text, len(ids) - 1, "crop")
    assert cropped.ids == ids[:-1]
    assert [told in record.getMessage() for record in caplog.records] == [True, True]
    with pytest.raises(UserError, match=told):
        parts(toy_tokenizer, text, len(ids) - 1, "error")


def test_words_keep_the_numbers_they_have_in_the_line(toy_tokenizer: Tokenizer) -> None:
    text = "zono  su\twaba dino"

    split = parts(toy_tokenizer, text, 3)

    assert [word for part in split for word in part.words] == toy_tokenizer.encode_with_words(text)[1]
    assert split[-1].words[-1] == 3


def test_an_endless_word_costs_no_more_than_a_long_line(
    toy_tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)

    blob = parts(toy_tokenizer, "su " + "zo" * 50_000 + " lu", 512)

    assert sum(len(part.ids) for part in blob) <= LONGEST_WORD + 10
    assert blob[0].words[0] == 0
    assert blob[-1].words[-1] == 2
    assert f"words were cut to {LONGEST_WORD} characters" in caplog.text


def test_long_text_without_spaces_but_with_commas_is_language(toy_tokenizer: Tokenizer) -> None:
    text = "su,zo," * 1000

    assert sum(len(part.ids) for part in parts(toy_tokenizer, text, 512)) == len(toy_tokenizer.encode(text))


@pytest.mark.parametrize("text", ["", " ", "\t", "\u00a0", "\u3000", "\u2581"])
def test_nothing_to_say_has_no_parts(toy_tokenizer: Tokenizer, text: str) -> None:
    assert parts(toy_tokenizer, text, 10) == []
