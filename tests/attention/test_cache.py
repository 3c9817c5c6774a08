import torch

from translator.attention.cache import KV

R, G, DH = 3, 2, 5


def columns(*numbers: int) -> torch.Tensor:
    """(R, G, K, Dh): every entry tells its column's number and, in the decimals, its row's."""
    k = torch.tensor(numbers, dtype=torch.float64)[None, None, :, None].expand(R, G, -1, DH)
    return k + torch.arange(R)[:, None, None, None] / 10


def kv(*numbers: int, start: int = 0) -> KV:
    return KV(columns(*numbers), -columns(*numbers), start)


def holds(cache: KV, *numbers: int, start: int) -> None:
    assert torch.equal(cache.k, columns(*numbers))
    assert torch.equal(cache.v, -columns(*numbers))
    assert (cache.start, cache.end) == (start, start + len(numbers))
    assert cache.positions().tolist() == list(range(start, start + len(numbers)))


def test_new_columns_join_at_the_end():
    holds(kv(4, 5, start=4).append(columns(6, 7), -columns(6, 7)), 4, 5, 6, 7, start=4)


def test_the_newest_columns_stay_at_their_positions():
    holds(kv(4, 5, 6, 7, start=4).last(3), 5, 6, 7, start=5)
    holds(kv(4, 5, start=4).last(2), 4, 5, start=4)
    holds(kv(4, 5, start=4).last(7), 4, 5, start=4)


def test_an_emptied_cache_remembers_where_it_stands():
    """A window of one keeps no past at all."""
    empty = kv(4, 5, start=4).last(0)
    holds(empty, start=6)
    holds(empty.append(columns(6), -columns(6)), 6, start=6)


def test_rows_are_reordered_repeated_and_dropped():
    cache = kv(4, 5, start=4)
    chosen = cache.select(torch.tensor([2, 0, 2, 2]))
    assert torch.equal(chosen.k, cache.k[[2, 0, 2, 2]])
    assert torch.equal(chosen.v, cache.v[[2, 0, 2, 2]])
    assert chosen.start == 4
    assert cache.last(0).select(torch.tensor([1])).k.shape == (1, G, 0, DH)


def test_nothing_is_changed_in_place():
    cache = kv(1, 2)
    cache.append(columns(3), -columns(3))
    cache.last(1)
    holds(cache, 1, 2, start=0)
