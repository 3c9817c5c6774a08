"""Two sets of links, one from each direction of translation, as one: pure functions.

Each target word of a model has chosen its source word, and each source word of the reverse model its target word; what
both say is right more often, what either says is found more often (Och & Ney 2003, section 4; Koehn et al. 2003).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import product

from translator.alignment.links import Link
from translator.errors import one_of

Links = Collection[Link]

#: Points beside, above and below come before those across, as in Koehn's account.
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrize(forward: Links, backward: Links, method: str) -> list[Link]:
    """Links of both directions, all as (source, target), made one by a method of `METHODS`; sorted by target.

    Raises:
        UserError: there is no such method.
    """
    one_of("symmetrize", method, tuple(METHODS))
    return sorted(METHODS[method](set(forward), set(backward)), key=lambda link: (link[1], link[0]))


def flipped(links: Iterable[Sequence[Link]]) -> list[list[Link]]:
    """Links of every pair as seen from the other side."""
    return [[(t, s) for s, t in of_pair] for of_pair in links]


def grow_diag(forward: set[Link], backward: set[Link]) -> set[Link]:
    """Start from the intersection and add neighbours of what is in, diagonal ones too, as long as there are any.

    A neighbour must be in the union and link a word, on either side, that has no link yet. Points are visited target
    word by target word until a visit to all adds nothing.
    """
    union, found = forward | backward, forward & backward
    sources, targets = {s for s, _ in found}, {t for _, t in found}
    grown = True
    while grown:
        grown = False
        for t, s in product(range(_end(union, 1)), range(_end(union, 0))):
            if (s, t) not in found:
                continue
            for beside_s, beside_t in NEIGHBOURS:
                new = (s + beside_s, t + beside_t)
                if new in union - found and not (new[0] in sources and new[1] in targets):
                    found.add(new)
                    sources.add(new[0])
                    targets.add(new[1])
                    grown = True
    return found


def _end(links: set[Link], side: int) -> int:
    return max((link[side] for link in links), default=-1) + 1


METHODS: dict[str, Callable[[set[Link], set[Link]], set[Link]]] = {
    "intersection": lambda forward, backward: forward & backward,
    "union": lambda forward, backward: forward | backward,
    "grow-diag": grow_diag,
}
