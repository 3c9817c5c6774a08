"""Over-long lines: split where it hurts least, crop, or refuse."""

import itertools
import logging
import re

import pytest

from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference.encoding import Part, encode
from translator.inference.segmentation import LONGEST_WORD, Limits, Segment, segment, split_points


def split(text: str, limit: int) -> list[Segment]:
    """Segments where every letter, digit and mark is a piece."""
    return segment(text, lambda part: len(re.sub(r"\s", "", part)), Limits(limit), "split", 1)


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("a b c. d e f g", 6, ["a b c.", "d e f g"]),
        ("a. b c. d e", 5, ["a. b c.", "d e"]),  # the end nearest to the limit, not the first
        ("a b c d e f g", 3, ["a b c", "d e f", "g"]),
        ("a b! c” d?» e f", 8, ["a b! c” d?»", "e f"]),
        ("a b c", 3, ["a b c"]),
        ("ab cd e", 3, ["ab", "cd e"]),  # words are kept whole where they fit
        ("a bcdefg", 3, ["a", "bcd", "efg"]),  # and cut at the limit where they do not
        ("a  b\tc d", 2, ["a  b", "c d"]),
        ("我很好。你呢？他来了。", 5, ["我很好。", "你呢？", "他来了。"]),  # sentences without spaces
        ("\u3000a\u3000b\u00a0c", 2, ["a\u3000b", "c"]),
    ],
)
def test_split_prefers_the_last_end_of_a_sentence_then_the_last_space(text: str, limit: int, parts: list[str]) -> None:
    assert [part.text for part in split(text, limit)] == parts


def test_segments_know_the_word_they_begin_in() -> None:
    assert [part.first_word for part in split("a bcdefg\u00a0h  i\tj", 3)] == [0, 1, 1, 1]
    assert [part.first_word for part in split(" a b  c d", 2)] == [0, 2]


def test_two_neighbours_hold_more_than_the_limit_so_segments_are_bounded() -> None:
    words = ("a. " + "b " * 97 + "c. d. " * 31).split()
    cuts = [0, *split_points([1] * len(words), [2 * word.endswith(".") for word in words], 7)]

    assert cuts[-1] == len(words)
    assert all(third - first > 7 for first, third in zip(cuts, cuts[2:], strict=False))
    assert all(0 < end - start <= 7 for start, end in itertools.pairwise(cuts))


def test_a_line_of_more_sentences_than_the_model_knows_is_cut_at_each() -> None:
    text = "An be. Co de.  Ef gi."
    for most, expected in ((None, [text]), (3, [text]), (2, ["An be.", "Co de.", "Ef gi."])):
        found = segment(text, len, Limits(99, most), "split", 1)
        assert [part.text for part in found] == expected
    assert [part.before for part in found] == ["", " ", "  "]


def test_long_sentences_are_cut_at_clauses_that_leave_more_than_half() -> None:
    text = "An be, co de fg, hi jk lm no."
    assert [part.text for part in split(text, 11)] == ["An be, co de", "fg, hi jk lm", "no."]
    assert [part.text for part in split(text, 14)] == ["An be, co de fg,", "hi jk lm no."]
    with pytest.raises(UserError, match="line 1: 21 pieces where 8 are allowed"):
        segment(text, lambda part: len(re.sub(r"\s", "", part)), Limits(8, 1), "error", 1)


def parts(tokenizer: Tokenizer, text: str, limit: int, on_long: str = "split") -> list[Part]:
    return encode(segment(text, lambda part: len(tokenizer.encode(part)), Limits(limit), on_long, 5), 4, tokenizer)


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

    found = parts(toy_tokenizer, text, len(ids) - 1)
    assert [i for part in found for i in part.ids] == ids
    assert [part.start for part in found] == [0, len(found[0].ids)]
    assert [part.line for part in found] == [4, 4]
    (cropped,) = parts(toy_tokenizer, text, len(ids) - 1, "crop")
    assert cropped == found[0]  # whole words
    assert [told in record.getMessage() for record in caplog.records] == [True, True]
    with pytest.raises(UserError, match=told):
        parts(toy_tokenizer, text, len(ids) - 1, "error")


def test_words_keep_the_numbers_they_have_in_the_line(toy_tokenizer: Tokenizer) -> None:
    text = "zono  su\twaba dino"

    longest = max(len(toy_tokenizer.encode(word)) for word in text.split())
    found = parts(toy_tokenizer, text, longest)

    assert len(found) > 1
    assert [word for part in found for word in part.words] == toy_tokenizer.encode_with_words(text)[1]
    assert found[-1].words[-1] == 3


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

    assert "".join(toy_tokenizer.decode(part.ids) for part in parts(toy_tokenizer, text, 512)) == text


@pytest.mark.parametrize("text", ["", " ", "\t", "\u00a0", "\u3000", "\u2581"])
def test_nothing_to_say_has_no_parts(toy_tokenizer: Tokenizer, text: str) -> None:
    assert parts(toy_tokenizer, text, 10) == []
