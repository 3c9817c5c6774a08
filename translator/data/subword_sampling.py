"""Random segmentations for training, drawn from a `random.Random` so that a run can be repeated and resumed.

The library can sample too, but from a generator of its own, whose state can't be saved.
"""

import math
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from translator.data.lines import WORD_MARK
from translator.errors import UserError

LONGEST_STRETCH = 100  # characters sampled as one; longer words are cut, since the loops below are quadratic
STRETCH = re.compile(f"{WORD_MARK}*[^{WORD_MARK}]{{1,{LONGEST_STRETCH}}}|{WORD_MARK}+")
UNKNOWN_PENALTY = 10.0  # log-probability of an unknown character, counted down from the worst piece (SentencePiece)
CACHED_WORDS = 100_000

Lattice = list[list[tuple[int, float]]]


def merge_with_dropout(word: str, scores: Mapping[str, float], dropout: float, rng: random.Random) -> list[str]:
    """BPE-dropout (Provilkov et al., 1910.13267, algorithm 1): at each step a merge is skipped with this probability.

    `scores`: of each piece; the best-scored (earliest learnt) possible merge goes first, ties from the left.
    """
    symbols = list(word)
    while True:
        best, best_score = -1, -math.inf
        for i in range(len(symbols) - 1):
            score = scores.get(symbols[i] + symbols[i + 1], -math.inf)
            if score > best_score and rng.random() >= dropout:
                best, best_score = i, score
        if best < 0:
            return symbols
        symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]


def lattice(word: str, scores: Mapping[str, float], sharpness: float, longest: int, unknown: float) -> Lattice:
    """Forward pass over all segmentations, each weighted with its probability to the power of `sharpness`.

    For each end, the possible starts of the last piece with their probability given that a piece ends there.
    `longest`: characters of the longest piece. `unknown`: log-probability of a character without a piece.
    """
    totals = [0.0]  # log of the summed weight of all segmentations of word[:end]
    ways: Lattice = [[]]
    for end in range(1, len(word) + 1):
        options = []
        for start in range(max(0, end - longest), end):
            score = scores.get(word[start:end], unknown if start == end - 1 else None)
            if score is not None:
                options.append((start, totals[start] + sharpness * score))
        top = max(weight for _, weight in options)
        total = top + math.log(sum(math.exp(weight - top) for _, weight in options))
        totals.append(total)
        ways.append([(start, math.exp(weight - total)) for start, weight in options])
    return ways


def draw(word: str, ways: Lattice, rng: random.Random) -> list[str]:
    """One segmentation from its lattice, from the back (Kudo, 1804.10959, section 3.2, without the n-best cut)."""
    pieces = []
    end = len(word)
    while end:
        if len(ways[end]) == 1:
            start = ways[end][0][0]
        else:
            starts, weights = zip(*ways[end], strict=True)
            start = rng.choices(starts, weights)[0]
        pieces.append(word[start:end])
        end = start
    return pieces[::-1]


class SubwordSampler:
    """Samples segmentations under a SentencePiece model, word by word, exact as long as no piece spans words.

    Raises UserError for a model that has such pieces, or that knows only one segmentation of a text.
    """

    def __init__(self, sp: Any):
        self._sp = sp
        pieces = {sp.id_to_piece(index): index for index in range(sp.vocab_size())}
        self._bytes = [pieces.get(f"<0x{byte:02X}>") for byte in range(256)] if _has_bytes(sp) else None
        self._ids = {piece: index for piece, index in pieces.items() if _is_normal(sp, index)}
        self._scores: dict[str, float] = {piece: sp.get_score(index) for piece, index in self._ids.items()}
        self._longest = max(map(len, self._ids))
        self._unknown = min(self._scores.values()) - UNKNOWN_PENALTY
        self._unk_id: int = sp.unk_id()
        self._lattices: dict[tuple[str, float], Lattice] = {}
        if any(WORD_MARK in piece.lstrip(WORD_MARK) for piece in self._ids):
            raise UserError("subword sampling needs a tokenizer whose pieces keep to one word; set sampling to 0")
        if _can(lambda: sp.nbest_encode("a", nbest_size=2)):
            self._segment = self._draw
        elif _can(lambda: sp.sample_encode_as_ids("a", nbest_size=-1, alpha=0.1)):
            self._segment = self._merge
        else:
            raise UserError("subword sampling needs a tokenizer of kind bpe or unigram; set sampling to 0")

    def sample(self, normal: str, rng: random.Random, strength: float) -> list[int]:
        """Ids of one segmentation of normalised text; `strength` as in `Tokenizer.encode_sampled`."""
        ids: list[int] = []
        for word in STRETCH.findall(self._sp.normalize(normal)):
            for piece in self._segment(word, rng, strength):
                index = self._ids.get(piece)
                if index is not None:
                    ids.append(index)
                elif self._bytes:
                    ids += [index for byte in piece.encode() if (index := self._bytes[byte]) is not None]
                elif ids[-1:] != [self._unk_id]:  # a run of unknown characters is one unknown piece
                    ids.append(self._unk_id)
        return ids

    def _merge(self, word: str, rng: random.Random, strength: float) -> list[str]:
        return merge_with_dropout(word, self._scores, strength, rng)

    def _draw(self, word: str, rng: random.Random, strength: float) -> list[str]:
        key = (word, strength)
        if key not in self._lattices:
            if len(self._lattices) >= CACHED_WORDS:
                self._lattices.clear()
            self._lattices[key] = lattice(word, self._scores, strength, self._longest, self._unknown)
        return draw(word, self._lattices[key], rng)


def _is_normal(sp: Any, index: int) -> bool:
    return not (sp.is_control(index) or sp.is_unknown(index) or sp.is_unused(index) or sp.is_byte(index))


def _has_bytes(sp: Any) -> bool:
    return any(sp.is_byte(index) for index in range(sp.vocab_size()))


def _can(call: Callable[[], object]) -> bool:
    try:
        call()
    except RuntimeError:
        return False
    return True
