"""When sentences that are done leave the batch."""

from collections.abc import Sequence

#: Sentences stay in such numbers.
_MULTIPLE = 8


def staying(is_open: Sequence[bool]) -> list[int]:
    """Indices of the sentences that stay, in order: all open ones, and done ones that fill them up to a round number.

    Dropping rows copies the state, and every new number of rows makes a library of matrix products prepare anew, which
    takes longer than the products of a few rows that nobody needs. Few sentences go one by one.
    """
    n_open = sum(is_open)
    size = n_open if n_open <= _MULTIPLE else -(-n_open // _MULTIPLE) * _MULTIPLE
    spare = size - n_open
    kept = []
    for index, goes_on in enumerate(is_open):
        if goes_on or spare > 0:
            kept.append(index)
            spare -= not goes_on
    return kept
