"""How good links are: the alignment error rate (Och & Ney 2003).

Gold links are sure (S) or possible (P), and every sure link is possible, too. Of found links A:

    precision = |A n P| / |A|,   recall = |A n S| / |S|,   AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from translator.alignment.links import Link

Links = Sequence[Collection[Link]]  # of each sentence pair


@dataclass(frozen=True)
class Rates:
    """All from 0 to 1; less is better for the error rate, more for the other two."""

    aer: float
    precision: float
    recall: float


def alignment_error_rate(links: Links, sure: Links, possible: Links) -> Rates:
    """Rates over a corpus: links are counted over all pairs before anything is divided.

    A sure link that is not among the possible ones is taken as possible. Where nothing is found no link is wrong
    (precision 1), and where nothing is sure none is missed (recall 1). Raises ValueError for unequal lengths.
    """
    found = wanted = hits = near_hits = 0
    for a, s, p in zip(map(set, links), map(set, sure), map(set, possible), strict=True):
        found += len(a)
        wanted += len(s)
        hits += len(a & s)
        near_hits += len(a & (p | s))
    return Rates(
        aer=1 - (hits + near_hits) / (found + wanted) if found + wanted else 0.0,
        precision=near_hits / found if found else 1.0,
        recall=hits / wanted if wanted else 1.0,
    )
