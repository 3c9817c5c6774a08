"""Lines are cut where sentences end, and nowhere else."""

import pytest

from translator.data.corpus import load_split
from translator.inference.segmentation import Limits, segment
from translator.inference.sentences import sentence_ends, sentences

POCKET = {"kind": "pocket", "train_size": 40000, "valid_size": 500, "test_size": 500}


@pytest.mark.parametrize(
    "expected",
    [
        ["The dog sees a table.", "It is old."],
        ["Mr. Smith and J. S. Bach came.", "He saw Dr. Who at 5 p.m. yesterday!", "Did he?", "Yes..."],
        ['"No," he said.', '"Yes!"', "(He left.)", "What?!", "3 of 4 is alive."],
        ["Das ist z.B. gut.", "Am 3. Oktober kam Prof. Meier.", "Ja!", "„Nein?“", "»Doch.«"],
        ["我很好。", "你呢？", "他来了。"],
        ["مرحبا.", "كيف حالك؟", "أنا بخير."],
        ["see www.a.com or a.b. c. d"],
        ["."], ["..."], [". . ."], ["no end"], ["1.5 million"],
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_sees_an_end(expected: list[str]) -> None:
    space = "" if "。" in expected[0] else "  "
    text = space.join(expected)
    assert [text[start:end] for start, end in sentences(text)] == expected


@pytest.mark.parametrize(("source", "target"), [("en", "de"), ("de", "en")])
def test_every_number_of_sentences_comes_back_as_it_was(source: str, target: str) -> None:
    lines = load_split({**POCKET, "source": source, "target": target}, "test").sources
    lines = [line for line in lines if set(line[:-1]).isdisjoint(".?!")]  # some hold two sentences
    for count in range(1, 51):
        chosen = lines[count : 2 * count]
        text = " ".join(chosen)
        found = segment(text, len, Limits(1000, sentences=1), "split", 1)
        assert [part.text for part in found] == chosen
        assert [part.first_word for part in found] == [
            sum(len(line.split()) for line in chosen[:index]) for index in range(count)
        ]
        assert [part.before for part in found] == ["", *[" "] * (count - 1)]


def test_ends_are_found_behind_all_marks() -> None:
    assert sentence_ends('He left!" She stayed.') == [9]
    assert sentence_ends("a. b.") == []
