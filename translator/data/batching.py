"""Batches of pairs within a token budget, from lengths alone: little padding, every pair once an epoch."""

import logging
import math
import random
from bisect import insort
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.utils.data import Sampler

from translator.data.padding import pad
from translator.errors import UserError

logger = logging.getLogger("translator")

Pair = tuple[Sequence[int], Sequence[int]]


class Batch(NamedTuple):
    """Pairs padded on the right: B rows, S source and T target positions.

    A tuple, because every precision mode of the training library can walk through one
    (it refuses frozen dataclasses in the pure 16-bit modes).
    """

    src_ids: Tensor  # (B, S) int64: pieces, eos, padding
    src_valid: Tensor  # (B, S) bool: False on padding
    tgt_in: Tensor  # (B, T) int64: bos, pieces, padding
    tgt_out: Tensor  # (B, T) int64: pieces, eos, padding
    tgt_valid: Tensor  # (B, T) bool: False on padding
    n_tokens: int  # real target positions, eos counted
    n_source_tokens: int  # real source positions, eos counted

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device; copies to a GPU come from page-locked memory and overlap with its work."""
        fields: list[Any] = list(self)
        for index, field in enumerate(fields):
            if isinstance(field, Tensor):
                pinned = torch.device(device).type == "cuda" and field.is_cpu
                fields[index] = (field.pin_memory() if pinned else field).to(device, non_blocking=pinned)
        return Batch(*fields)


def collate(pairs: Sequence[Pair], pad_id: int, bos_id: int, eos_id: int) -> Batch:
    """Pad pairs of piece ids (without bos and eos) into a batch.

    Validity comes from lengths, never from ids: a piece that happens to share the padding's id stays visible.
    """
    src_ids, src_valid = pad([[*source, eos_id] for source, _ in pairs], pad_id)
    tgt_out, tgt_valid = pad([[*target, eos_id] for _, target in pairs], pad_id)
    tgt_in, _ = pad([[bos_id, *target] for _, target in pairs], pad_id)
    n_tokens, n_source_tokens = int(tgt_valid.sum()), int(src_valid.sum())
    return Batch(src_ids, src_valid, tgt_in, tgt_out, tgt_valid, n_tokens, n_source_tokens)


class TokenBudgetSampler(Sampler[list[int]]):
    """Deals the indices of all pairs into batches, anew for each `epoch`, from (seed, epoch) alone.

    `source_lengths` and `target_lengths` are the positions a pair fills in a batch, so pieces + 1 for eos.
    The budget counts padded positions of the longer side: pairs * max(S, T) <= `max_tokens`; `max_sentences`
    bounds the pairs as well. A pair beyond the budget gets a batch of its own and is counted in `oversize`.

    Pairs are sorted by bands of two target lengths and, inside, by source length, up in one band and down in the
    next, so that neighbours across a border are alike on both sides; pairs of equal lengths are shuffled.
    On 29,000 Multi30k pairs padding is 3 / 4 / 7 % of all positions at budgets of 2,048 / 4,096 / 8,192.

    The number of batches is the same in every epoch: the trainer reads it once, and schedules count with it.
    The sorted lengths never change, so a greedy cut makes n batches, the fewest possible. A few borders at random
    places keep epochs from repeating each other's batches; each adds one batch at most, since a part of a batch
    that fits also fits. Where they add fewer, the largest batches are halved.

    Of several processes (as torch.distributed has them), each takes every n-th batch. The number of batches is
    brought to a multiple of n by halving the largest ones, so every pair is used exactly once and no process waits in
    vain. Only where there are nearly as many batches as pairs, so that none can be halved, are the shortest pairs
    joined instead, over the budget.

    Raises:
        UserError: no pairs, a budget below 1, or (when first asked for batches) fewer pairs than processes.
    """

    def __init__(
        self,
        source_lengths: Sequence[int],
        target_lengths: Sequence[int],
        max_tokens: int,
        max_sentences: int | None = None,
        seed: int = 0,
    ) -> None:
        if max_tokens < 1 or (max_sentences is not None and max_sentences < 1):
            raise UserError(f"a batch of {max_tokens} tokens, {max_sentences} sentences holds nothing: set 1 or more")
        if len(source_lengths) == 0:
            raise UserError("there is no pair to batch: check the corpus and the length limit")
        self.max_tokens, self.max_sentences, self.seed, self.epoch = max_tokens, max_sentences, seed, 0
        self.lengths = sources, targets = torch.as_tensor(source_lengths), torch.as_tensor(target_lengths)
        # One integer a pair, in the order of: band of target lengths; source length, up or down; target length.
        band, end = targets // 2, int(sources.max()) + 1
        self._keys = (band * end + torch.where(band % 2 == 0, sources, end - 1 - sources)) * 2 + targets % 2
        widths = torch.maximum(sources, targets)
        self._sorted_widths: list[int] = widths[self._keys.argsort(stable=True)].tolist()
        self._fewest = len(self._cut(range(len(widths))))
        self._n_borders = self._fewest // 16  # drawn at random: few, so that batches stay nearly full
        self.oversize = int((widths > max_tokens).sum())
        if self.oversize:
            message = "%d pairs are longer than max_tokens=%d; each gets a batch of its own"
            logger.warning(message, self.oversize, max_tokens)

    def __len__(self) -> int:
        """Batches an epoch for each process."""
        return self._n_batches() // world()[1]

    def __iter__(self) -> Iterator[list[int]]:
        rank, world_size = world()
        return iter(self.epoch_batches()[rank::world_size])

    def epoch_batches(self) -> list[list[int]]:
        """The batches of this epoch for all processes together, in the order in which they are dealt out."""
        rng = random.Random(f"{self.seed}/{self.epoch}")
        shuffled = torch.randperm(len(self._keys), generator=torch.Generator().manual_seed(rng.getrandbits(63)))
        order = shuffled[self._keys[shuffled].argsort(stable=True)].tolist()
        n_batches = self._n_batches()
        borders = {rng.randrange(len(order)) for _ in range(min(self._n_borders, n_batches - self._fewest))}
        batches = _resize(self._cut(order, borders), n_batches)
        rng.shuffle(batches)
        return batches

    def sorted_batches(self) -> list[list[int]]:
        """The fewest batches within the budget, the same each time, for validation.

        As many for each process where there are enough pairs; no pair is used twice in any case.
        """
        batches = self._cut(self._keys.argsort(stable=True).tolist())
        world_size = world()[1]
        even = math.ceil(len(batches) / world_size) * world_size
        return _resize(batches, even if even <= len(self._keys) else len(batches))

    def padding_share(self) -> float:
        """Share of padding among all positions of both sides in the current epoch, 0 to 1."""
        rows = [lengths[batch] for batch in self.epoch_batches() for lengths in self.lengths]
        return 1 - sum(int(row.sum()) for row in rows) / sum(len(row) * int(row.max()) for row in rows)

    def _n_batches(self) -> int:
        world_size, n_pairs = world()[1], len(self._keys)
        if n_pairs < world_size:
            raise UserError(f"{n_pairs} training pairs cannot be shared by {world_size} processes: use fewer processes")
        wanted = math.ceil((self._fewest + self._n_borders) / world_size) * world_size
        return min(wanted, n_pairs // world_size * world_size)

    def _cut(self, order: Sequence[int], borders: Collection[int] = ()) -> list[list[int]]:
        """Cut pairs, which come sorted, into the fewest batches within the budget that respect `borders`."""
        batches: list[list[int]] = []
        widest = 0
        for row, (index, width) in enumerate(zip(order, self._sorted_widths, strict=True)):
            widest = max(widest, width)
            size = len(batches[-1]) + 1 if batches else 1
            full = size * widest > self.max_tokens or size > (self.max_sentences or size)
            if not batches or full or row in borders:
                batches.append([])
                widest = width
            batches[-1].append(index)
        return batches


def world() -> tuple[int, int]:
    """(rank, number of processes) that share the batches."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def _resize(batches: list[list[int]], count: int) -> list[list[int]]:
    """Bring batches, sorted by length, to `count`: halve those of most pairs, or join the shortest."""
    while len(batches) > count:
        batches[:2] = [batches[0] + batches[1]]
    batches.sort(key=len)
    while len(batches) < count:
        largest = batches.pop()
        middle = len(largest) // 2
        insort(batches, largest[:middle], key=len)
        insort(batches, largest[middle:], key=len)
    return batches
