"""When sentences that are done leave the batch."""

from collections.abc import Sequence


def staying(is_open: Sequence[bool]) -> list[int]:
    """Indices of the sentences that stay, in order: all open ones, and done ones that fill them up to a round number.

    Round are all numbers up to 8, then 10, 12, 14, 16, 20, 24, 28, 32, 40 and so on, so that fewer than a quarter of
    the rows are computed for nobody. Leaving copies the state, and in bfloat16 a CPU compiles every product for each
    number of rows anew: with all numbers a search comes to hold hundreds of megabytes more of such programs, and a file
    that is translated once waits for them.
    """
    n_open = sum(is_open)
    power = 1 << max(n_open - 1, 0).bit_length()  # the next power of two
    step = max(1, power // 8)  # four sizes between one power of two and the next
    spare = -n_open % step
    kept = []
    for index, goes_on in enumerate(is_open):
        if goes_on or spare > 0:
            kept.append(index)
            spare -= not goes_on
    return kept
