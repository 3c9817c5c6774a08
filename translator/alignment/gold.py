"""Links that are known to be right, and how found links are judged by them: from files or the pocket corpus."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from translator.alignment.error_rate import Links, alignment_error_rate
from translator.alignment.links import Link
from translator.alignment.statistical import align_both_ways
from translator.data.corpus import POCKET_SIZES, first_of_pocket
from translator.data.lines import read_text
from translator.data.parallel import ParallelText, read_parallel
from translator.data.tokenizer import USER_WORD
from translator.errors import UserError

_LINK = re.compile("([0-9]+)([-p])([0-9]+)")
_EDGE = re.compile(r"^\W+|\W+$")
_NUMBER = re.compile("[0-9]+")


class Gold(Protocol):
    """Sentence pairs and a judge of the links that are found in them."""

    @property
    def sources(self) -> list[str]: ...  # noqa: D102
    @property
    def targets(self) -> list[str]: ...  # noqa: D102

    def describe(self) -> str:
        """What there is to find, for a heading."""

    def rate(self, links: Links) -> dict[str, float]:
        """Figures from 0 to 1 by name, always the same names."""

    def error(self, links: Links) -> float:
        """The figure to choose by; less is better."""


@dataclass(frozen=True)
class GoldLinks:
    """Sure and possible links of each pair, (source word, target word) from 0; every sure link is possible, too."""

    sources: list[str]
    targets: list[str]
    sure: list[set[Link]]
    possible: list[set[Link]]

    def first(self, count: int) -> "GoldLinks":
        """Of the first so many pairs."""
        return GoldLinks(self.sources[:count], self.targets[:count], self.sure[:count], self.possible[:count])

    def describe(self) -> str:
        """Counts."""
        only_possible = sum(map(len, self.possible)) - sum(map(len, self.sure))
        return f"{len(self.sources)} pairs, {sum(map(len, self.sure))} sure links, {only_possible} only possible"

    def rate(self, links: Links) -> dict[str, float]:
        """Alignment error rate, precision and recall."""
        return asdict(alignment_error_rate(links, self.sure, self.possible))

    def error(self, links: Links) -> float:
        """The alignment error rate."""
        return alignment_error_rate(links, self.sure, self.possible).aer


@dataclass(frozen=True)
class GoldWords:
    """Single words whose translation is known: (index of the pair, link)."""

    sources: list[str]
    targets: list[str]
    words: list[tuple[int, Link]]
    skipped: int = 0  # word pairs that could not be found in the lines

    def describe(self) -> str:
        """Counts."""
        return f"{len(self.sources)} pairs, {len(self.words)} known word pairs, {self.skipped} not found in the lines"

    def rate(self, links: Links) -> dict[str, float]:
        """Pointing accuracy: the share of known target words whose links all go to the right source word."""
        right = sum({s for s, t in links[pair] if t == target} == {source} for pair, (source, target) in self.words)
        return {"accuracy": right / len(self.words)}

    def error(self, links: Links) -> float:
        """What is missing from perfect pointing."""
        return 1 - self.rate(links)["accuracy"]


def read_gold(source: str | Path, target: str | Path, gold: str | Path, *, one_based: bool = False) -> GoldLinks:
    """Pairs of two files and their links from a third: ``0-0 1p2``, sure and possible, a line a pair.

    Words are what stands between spaces and tabs. Raises UserError, with the line, where a link is malformed or counts
    from the wrong number, and where the files differ in length.
    """
    text, lines = read_parallel(source, target), read_text(gold)
    if len(lines) != len(text):
        raise UserError(f"{gold} has {len(lines)} lines but {source} has {len(text)}: give a line of links a pair")
    found = GoldLinks(text.sources, text.targets, [], [])
    for number, (line, *pair) in enumerate(zip(lines, text.sources, text.targets, strict=True), 1):
        counts = [len(USER_WORD.findall(side)) for side in pair]
        try:
            sure, possible = parse_links(line, counts[0], counts[1], one_based)
        except UserError as error:
            raise UserError(f"{gold}, line {number}: {error}") from error
        found.sure.append(sure)
        found.possible.append(possible)
    return found


def parse_links(line: str, n_source: int, n_target: int, one_based: bool) -> tuple[set[Link], set[Link]]:
    """Sure and possible links of a line, counted from 0 whatever the line does.

    Raises:
        UserError: not a link, or a word that does not exist.
    """
    sure: set[Link] = set()
    possible: set[Link] = set()
    for item in line.split():
        match = _LINK.fullmatch(item)
        if match is None:
            raise UserError(f"{item!r} is no link; write 0-0 for a sure one, 0p0 for a possible one")
        link = (int(match[1]) - one_based, int(match[3]) - one_based)
        if min(link) < 0:
            raise UserError(f"{item!r} counts from 0: leave out --one-based")
        if link[0] >= n_source or link[1] >= n_target:
            hint = "" if one_based else "; if the file counts from 1, add --one-based"
            raise UserError(f"{item!r} is outside of {n_source} source and {n_target} target words{hint}")
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return sure, possible


def read_word_pairs(source: str | Path, target: str | Path, table: str | Path) -> GoldWords:
    """Pairs of two files and known word pairs from a table: sentence, word, its position, translation, its position.

    Tabs divide the five columns, the first line names them, and all numbers count from 0. Where another word stands at
    a position (the table may have been made for tokenised text), the word is searched: it must occur once, but for case
    and punctuation around it, and else the row is left out and counted. Raises UserError for a malformed row, with its
    line, and where no row is left.
    """
    text = read_parallel(source, target)
    words: list[tuple[int, Link]] = []
    rows = read_text(table)[1:]
    for number, row in enumerate(rows, 2):
        cells = row.split("\t")
        if len(cells) != 5 or not all(_NUMBER.fullmatch(cells[i]) for i in (0, 2, 4)):
            raise UserError(f"{table}, line {number}: not sentence, word, position, translation, position (with tabs)")
        pair = int(cells[0])
        if pair >= len(text):
            raise UserError(f"{table}, line {number}: there is no sentence {pair}; {source} has {len(text)} lines")
        s = locate(text.sources[pair], cells[1], int(cells[2]))
        t = locate(text.targets[pair], cells[3], int(cells[4]))
        if s is not None and t is not None:
            words.append((pair, (s, t)))
    if not words:
        raise UserError(f"{table}: none of its {len(rows)} word pairs stands in the lines of {source} and {target}")
    return GoldWords(text.sources, text.targets, words, len(rows) - len(words))


def locate(line: str, word: str, position: int) -> int | None:
    """Where a word stands in a line: at the position, or else where it occurs alone; None where neither is so."""
    written = [_plain(each) for each in USER_WORD.findall(line)]
    if written[position : position + 1] == [_plain(word)]:
        return position
    places = [index for index, each in enumerate(written) if each == _plain(word)]
    return places[0] if len(places) == 1 else None


def _plain(word: str) -> str:
    """Without case and the punctuation around it, if anything is left."""
    return _EDGE.sub("", word).casefold() or word


def pocket_gold(config: Mapping[str, Any], split: str) -> GoldLinks:
    """Pairs of a split of the pocket corpus that a bundle was trained on, with the links that its grammar knows.

    ``config`` is config.json. Raises UserError where the bundle comes from another corpus.
    """
    data = config.get("data") or {}
    if data.get("kind") != "pocket":
        raise UserError("this checkpoint was not trained on pocket: give --source, --target and --gold files")
    if split not in POCKET_SIZES:
        raise UserError(f"pocket has no split {split!r}, only {', '.join(POCKET_SIZES)}")
    sources, targets = first_of_pocket(data, split, (data["source"], data["target"]))
    lines, _ = first_of_pocket(data, split, ("links", "en"))
    links = [{(int(en), int(de)) for en, de in (link.split("-") for link in line.split())} for line in lines]
    if data["source"] == "de":
        links = [{(de, en) for en, de in pair} for pair in links]
    return GoldLinks(sources, targets, links, links)


def agreed_links(sources: list[str], targets: list[str], text: ParallelText) -> GoldLinks:
    """What the statistical aligner says, in place of gold: sure is what both of its directions say, possible what one
    does. It learns from ``text``, too. Good enough to choose a reading by where nobody has linked words.
    """
    more = (text.sources, text.targets)
    both = [(set(one), set(other)) for one, other in zip(*align_both_ways(sources, targets, more), strict=True)]
    return GoldLinks(sources, targets, [one & other for one, other in both], [one | other for one, other in both])
