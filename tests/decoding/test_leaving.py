import pytest

from translator.decoding.leaving import staying

ROUND = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80]


@pytest.mark.parametrize("n_open", range(70))
def test_all_open_sentences_stay_and_few_others(n_open):
    is_open = [(7 * i) % 80 < n_open for i in range(80)]
    kept = staying(is_open)
    assert kept == sorted(set(kept))
    assert {i for i in range(80) if is_open[i]} <= set(kept)
    assert len(kept) == min(size for size in ROUND if size >= n_open)


def test_there_may_be_too_few_to_fill_up():
    assert staying([True] * 11) == list(range(11))
    assert staying([True] * 9 + [False] * 3) == list(range(10))
