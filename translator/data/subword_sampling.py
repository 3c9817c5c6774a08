"""Random segmentations for training, drawn from a `random.Random` so that a run can be repeated and resumed.

The library can sample too, but from a generator of its own, whose state can't be saved.
"""

import math
import random
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
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
        starts, weights = zip(*ways[end], strict=True)
        start = rng.choices(starts, weights)[0] if len(starts) > 1 else starts[0]
        pieces.append(word[start:end])
        end = start
    return pieces[::-1]


class SubwordSampler:
    """Samples segmentations under a SentencePiece model, word by word, exact as long as no piece spans words.

    Raises UserError for a model that has such pieces, or that knows only one segmentation of a text.
    """

    def __init__(self, sp: Any):
        self._sp = sp
        indices = range(sp.vocab_size())
        pieces = {sp.id_to_piece(index): index for index in indices}
        self._bytes = [pieces.get(f"<0x{byte:02X}>") for byte in range(256)] if any(map(sp.is_byte, indices)) else None
        special = (sp.is_control, sp.is_unknown, sp.is_unused, sp.is_byte)
        self._ids = {piece: index for piece, index in pieces.items() if not any(kind(index) for kind in special)}
        scores: dict[str, float] = {piece: sp.get_score(index) for piece, index in self._ids.items()}
        self._unk_id: int = sp.unk_id()
        self._segment: Callable[[str, random.Random, float], list[str]]
        if any(WORD_MARK in piece.lstrip(WORD_MARK) for piece in self._ids):
            raise UserError("subword sampling needs a tokenizer whose pieces keep to one word; set sampling to 0")
        if _can(lambda: sp.nbest_encode("a", nbest_size=2)):
            longest, unknown = max(map(len, self._ids)), min(scores.values()) - UNKNOWN_PENALTY
            ways = lru_cache(CACHED_WORDS)(partial(lattice, scores=scores, longest=longest, unknown=unknown))
            self._segment = lambda word, rng, strength: draw(word, ways(word, sharpness=strength), rng)
        elif _can(lambda: sp.sample_encode_as_ids("a", nbest_size=-1, alpha=0.1)):
            self._segment = lambda word, rng, strength: merge_with_dropout(word, scores, strength, rng)
        else:
            raise UserError("subword sampling needs a tokenizer of kind bpe or unigram; set sampling to 0")

    def sample(self, normal: str, rng: random.Random, strength: float) -> list[int]:
        """Ids of one segmentation of normalised text; `strength` as in `Tokenizer.encode_sampled`."""
        ids: list[int] = []
        for word in STRETCH.findall(self._sp.normalize(normal)):
            for piece in self._segment(word, rng, strength):
                if piece in self._ids:
                    ids.append(self._ids[piece])
                elif self._bytes:
                    ids += [index for byte in piece.encode() if (index := self._bytes[byte]) is not None]
                elif ids[-1:] != [self._unk_id]:  # a run of unknown characters is one unknown piece
                    ids.append(self._unk_id)
        return ids


def _can(call: Callable[[], object]) -> bool:
    try:
        call()
    except RuntimeError:
        return False
    return True
