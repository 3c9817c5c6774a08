"""What a line of output looks like."""

import json

import pytest

from translator.cli.formats import Layout, lines_of, link_lines
from translator.inference.options import TranslateOptions
from translator.inference.translation import Translation

SECOND = Translation("DI", -1.5, ["▁DI"], [(1, 0)], weights=[0.25])
FIRST = Translation("ZO ME", -0.5, ["▁ZO", "▁ME"], [(0, 0), (1, 1)], weights=[0.75, 0.5])
BEST = Translation("ZO ME", -0.5, ["▁ZO", "▁ME"], [(0, 0), (1, 1)], [FIRST, SECOND], [0.75, 0.5])
BLANK = Translation("", 0.0, [], [], [Translation("", 0.0, [], [], weights=[])], [])


@pytest.mark.parametrize(
    ("layout", "lines"),
    [
        (Layout(), ["ZO ME"]),
        (Layout(scores=True), ["-0.500000\tZO ME"]),
        (Layout(links=True), ["ZO ME ||| 0-0 1-1"]),
        (Layout(links=True, soft=True), ["ZO ME ||| 0-0:0.750 1-1:0.500"]),
        (Layout(links=True, links_inline=False), ["ZO ME"]),
        (Layout(scores=True, links=True), ["-0.500000\tZO ME ||| 0-0 1-1"]),
        (Layout(n_best=True), ["7 ||| ZO ME ||| -0.500000", "7 ||| DI ||| -1.500000"]),
        (Layout(n_best=True, links=True), ["7 ||| ZO ME ||| -0.500000 ||| 0-0 1-1", "7 ||| DI ||| -1.500000 ||| 1-0"]),
        (Layout("tsv"), ["7\tsu lu\tZO ME\t-0.500000"]),
        (Layout("tsv", links=True, n_best=True),
         ["7\tsu lu\tZO ME\t-0.500000\t0-0 1-1", "7\tsu lu\tDI\t-1.500000\t1-0"]),
    ],
)  # fmt: skip
def test_layouts(layout: Layout, lines: list[str]) -> None:
    assert lines_of(BEST, 7, "su\tlu", layout) == lines


def test_a_blank_line_keeps_its_place_in_every_layout() -> None:
    assert lines_of(BLANK, 7, "", Layout()) == [""]
    assert lines_of(BLANK, 7, "", Layout(links=True)) == [" ||| "]
    assert lines_of(BLANK, 7, "", Layout(n_best=True)) == ["7 |||  ||| 0.000000"]
    assert link_lines(BLANK, Layout(links=True)) == [""]


def test_links_alone_follow_the_lines() -> None:
    assert link_lines(BEST, Layout(links=True)) == ["0-0 1-1"]
    assert link_lines(BEST, Layout(links=True, n_best=True)) == ["0-0 1-1", "1-0"]
    assert link_lines(BEST, Layout("json", links=True, n_best=True)) == ["0-0 1-1"]


def test_json_holds_everything_in_one_line() -> None:
    source = 'a "b"\tc\u2028d'
    (line,) = lines_of(BEST, 7, source, Layout("json", links=True, soft=True, n_best=True))

    found = json.loads(line)
    assert "\n" not in line
    assert list(found) == ["id", "source", "translation", "score", "tokens", "alignment", "finished", "n_best"]
    assert (found["id"], found["source"], found["translation"]) == (7, source, "ZO ME")
    assert found["tokens"] == ["▁ZO", "▁ME"]
    assert found["alignment"] == [[0, 0, 0.75], [1, 1, 0.5]]
    assert [entry["translation"] for entry in found["n_best"]] == ["ZO ME", "DI"]
    assert found["finished"] is True
    (plain,) = lines_of(Translation("ZO", -0.5, [], n_best=[FIRST]), 0, "", Layout("json"))
    assert json.loads(plain)["alignment"] is None


def test_the_layout_follows_the_options() -> None:
    assert Layout.of(TranslateOptions(n_best=2, alignments="soft"), "text", True, False) == Layout(
        "text", scores=True, n_best=True, links=True, soft=True, links_inline=False
    )
    assert Layout.of(TranslateOptions(alignments=0.5), "tsv", False, True) == Layout("tsv", links=True)
