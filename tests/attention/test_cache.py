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


def test_branches_of_one_past_do_not_disturb_each_other():
    trunk = kv(1).append(columns(2), -columns(2))
    one, other = (trunk.append(columns(n), -columns(n)) for n in (3, 4))
    longer = one.append(columns(5, 6), -columns(5, 6))
    holds(trunk, 1, 2, start=0)
    holds(one, 1, 2, 3, start=0)
    holds(other, 1, 2, 4, start=0)
    holds(longer, 1, 2, 3, 5, 6, start=0)
    holds(one.append(columns(7), -columns(7)), 1, 2, 3, 7, start=0)


def test_it_grows_column_by_column_through_selections_and_cuts():
    cache = kv(0)
    for n in range(1, 40):
        cache = cache.select(torch.arange(R)).append(columns(n), -columns(n)).last(11)
        holds(cache, *range(max(0, n - 10), n + 1), start=max(0, n - 10))


def test_a_step_writes_into_the_capacity_that_is_there():
    cache = kv(1).append(columns(2), -columns(2))
    assert cache.append(columns(3), -columns(3)).k.data_ptr() == cache.k.data_ptr()
    chosen = cache.select(torch.tensor([0, 1, 2]))
    assert chosen.k.data_ptr() != cache.k.data_ptr()
    assert chosen.append(columns(3), -columns(3)).k.data_ptr() == chosen.k.data_ptr()


def test_gradients_flow_through_what_was_appended():
    past, new = columns(1).requires_grad_(), columns(2).requires_grad_()
    KV(past, -past).append(new, -new).append(new, -new).k.sum().backward()
    assert past.grad is not None
    assert torch.equal(past.grad, torch.ones_like(past))
    assert new.grad is not None
    assert torch.equal(new.grad, 2 * torch.ones_like(new))
