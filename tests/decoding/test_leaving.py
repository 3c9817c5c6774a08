import pytest

from translator.decoding.leaving import staying


@pytest.mark.parametrize("n_open", range(40))
def test_all_open_sentences_stay_and_few_others(n_open):
    is_open = [(7 * i) % 40 < n_open for i in range(40)]
    kept = staying(is_open)
    assert kept == sorted(set(kept))
    assert {i for i in range(40) if is_open[i]} <= set(kept)
    assert len(kept) == (n_open if n_open <= 8 else 8 * ((n_open + 7) // 8))


def test_there_may_be_too_few_to_fill_up():
    assert staying([True] * 11) == list(range(11))
    assert staying([True] * 10 + [False]) == list(range(11))
