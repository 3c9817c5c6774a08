"""Pairs of piece ids in memory."""

import random
from array import array
from collections.abc import Sequence

from torch.utils.data import Dataset

from translator.data.batching import Pair
from translator.data.tokenizer import Tokenizer


class ParallelDataset(Dataset[Pair]):
    """Pairs of piece ids, tokenised once; with `sampling`, segmented anew for every epoch.

    Pairs with a side without pieces or, where `max_length` is set, with more than `max_length` are left out; `blank`
    and `too_long` count them. Sampled segmentations depend on (seed, epoch, pair) alone, so neither the order of
    batches nor a resume changes them. Lengths are those of the deterministic pieces, plus one for eos: a sampled
    pair may come out longer, cut to `max_length`.
    """

    def __init__(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        tokenizer: Tokenizer,
        *,
        max_length: int | None = None,
        sampling: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._tokenizer, self._max_length, self._sampling, self._seed = tokenizer, max_length, sampling, seed
        self._texts: list[tuple[str, str]] = []
        self._pairs: list[tuple[array[int], array[int]]] = []  # 4 bytes an id; lists take several times as much
        self.source_lengths, self.target_lengths = array("i"), array("i")
        self.blank = self.too_long = 0
        for texts in zip(sources, targets, strict=True):
            source, target = map(tokenizer.encode, texts)
            if not source or not target:
                self.blank += 1
            elif max_length is not None and max(len(source), len(target)) > max_length:
                self.too_long += 1
            else:
                self._texts.append(texts)
                self._pairs.append((array("i", source), array("i", target)))
                self.source_lengths.append(len(source) + 1)
                self.target_lengths.append(len(target) + 1)

    def __len__(self) -> int:
        return len(self._pairs)

    def pair(self, index: int, epoch: int = 0) -> Pair:
        """Source and target piece ids of a pair as they are in this epoch."""
        if not self._sampling:
            source, target = self._pairs[index]
            return source.tolist(), target.tolist()
        rng = random.Random(f"{self._seed}/{epoch}/{index}")
        drawn = [self._tokenizer.encode_sampled(text, rng, self._sampling) for text in self._texts[index]]
        return drawn[0][: self._max_length], drawn[1][: self._max_length]

    __getitem__ = pair
