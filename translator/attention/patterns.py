"""Which keys a query looks at, and how no others are computed: a rule, joined with the way of computing it.

All give what the explicit kernel gives under the mask `Pattern.visible`; they differ in time and memory only.
"""

import torch
from torch import Tensor

from translator.attention.blocks import Blocks, attend_in_blocks
from translator.attention.groups import attend_groups
from translator.attention.kernels import Kernel, attend
from translator.attention.rules import Rule, View, both, causal, everywhere, strided, within
from translator.attention.selection import attend_chosen, choose_keys
from translator.errors import UserError, at_least

#: A query's own copies of its keys cost as much as this many times their number of plain products.
_COPIES = 32


class Pattern:
    """All that the rule shows, computed whole; the others depart from this one.

    Shapes as in `kernels`: q (B, H, Q, Dh); k, v (B, H, K, Dh). The queries are the last of the sequence so far.
    """

    keeps: int | None = None  # how many past columns are of use to later queries; None: all
    takes_groups = True  # whether `attend` takes k and v (B, G, K, Dh), each head for H/G neighbouring query heads

    def __init__(self, rule: Rule = everywhere) -> None:
        self.rule = rule

    def visible(self, q: Tensor, k: Tensor, view: View) -> Tensor | None:
        """Who sees whom, as a mask that broadcasts to (B, H, Q, K); None: all."""
        return view.visible(self.rule, q, k)

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, view: View, dropout_p: float = 0.0, kernel: Kernel = attend
    ) -> Tensor:
        """The output (B, H, Q, Dh)."""
        return attend_groups(q, k, v, self.visible(q, k, view), dropout_p, kernel)

    def products(self, n_queries: int, n_keys: int) -> int:
        """Products of vectors of Dh numbers that a head computes, for the scores and for the sums of values."""
        return 2 * n_queries * n_keys


class _Sparse(Pattern):
    """A rule that shows neighbours, and few others, computed in blocks wherever that is less."""

    def __init__(self, rule: Rule, reach: int, stride: int | None = None, *, causal_only: bool) -> None:
        super().__init__(both(causal, rule) if causal_only else rule)
        self.blocks = Blocks(reach, 0 if causal_only else reach, stride)

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, view: View, dropout_p: float = 0.0, kernel: Kernel = attend
    ) -> Tensor:
        """In blocks, but for a sentence so short that a block's keys are all there are."""
        if not self._pays(q.shape[2], k.shape[2]):
            return super().attend(q, k, v, view, dropout_p, kernel)
        return attend_in_blocks(q, k, v, view, kernel, dropout_p, rule=self.rule, blocks=self.blocks)

    def products(self, n_queries: int, n_keys: int) -> int:
        """As the base class says, where the first key stands at position 0."""
        if not self._pays(n_queries, n_keys):
            return super().products(n_queries, n_keys)
        return 2 * self.blocks.pairs(n_queries, n_keys)

    def _pays(self, n_queries: int, n_keys: int) -> bool:
        return self.blocks.columns(n_queries, n_keys) < n_keys


class Window(_Sparse):
    """A sliding window: O(n * width) (Beltagy 2020, 2004.05150, 3.1)."""

    def __init__(self, width: int, *, causal_only: bool) -> None:
        super().__init__(within(width), width - 1, causal_only=causal_only)
        self.width, self.causal_only = width, causal_only
        self.keeps = width - 1  # the next query adds itself

    def visible(self, q: Tensor, k: Tensor, view: View) -> Tensor | None:
        """As the base class says; a decoding step over a cache that is cut to the window sees all of it."""
        step = self.causal_only and q.shape[2] == 1 and view.valid is None
        return None if step and k.shape[2] <= self.width else super().visible(q, k, view)


class Strided(_Sparse):
    """Neighbours and the last key of every block: O(n * (stride + n / stride)) (Child 2019, 1904.10509)."""

    def __init__(self, stride: int, *, causal_only: bool) -> None:
        super().__init__(strided(stride), stride - 1, stride, causal_only=causal_only)


class TopK(Pattern):
    """The keys of the highest scores, among those that the rule shows (Zhao 2019, 1912.11637)."""

    takes_groups = False  # every query head chooses for itself

    def __init__(self, k: int, rule: Rule = everywhere) -> None:
        at_least("attention top_k", k, 1)
        super().__init__(rule)
        self.k = k

    def visible(self, q: Tensor, k: Tensor, view: View) -> Tensor | None:
        """What is chosen (B, H, Q, K); what the rule shows where that is no more."""
        if k.shape[2] <= self.k:
            return super().visible(q, k, view)
        columns, seen = choose_keys(q, k, view, self.rule, self.k)
        shape = (*columns.shape[:3], k.shape[2])
        return torch.zeros(shape, dtype=torch.bool, device=q.device).scatter_(-1, columns, seen)

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, view: View, dropout_p: float = 0.0, kernel: Kernel = attend
    ) -> Tensor:
        """Over copies of the chosen keys; masked in place where copies would be as large as the matrix they save."""
        if not self._copies(k.shape[2]):
            return super().attend(q, k, v, view, dropout_p, kernel)
        columns, seen = choose_keys(q, k, view, self.rule, self.k)
        return attend_chosen(q, k, v, columns, seen, kernel, dropout_p)

    def products(self, n_queries: int, n_keys: int) -> int:
        """As the base class says, and the scores of all keys once more, to choose by them."""
        if n_keys <= self.k:
            return super().products(n_queries, n_keys)
        return n_queries * n_keys + 2 * n_queries * (self.k if self._copies(n_keys) else n_keys)

    def _copies(self, n_keys: int) -> bool:
        return _COPIES * self.k < n_keys


def choose_pattern(
    *, causal_only: bool, window: int | None = None, stride: int | None = None, top_k: int | None = None
) -> Pattern:
    """The pattern of one place, by the one number that is given; without any, all is seen that may be.

    Raises UserError where a number is not positive, or there is more than one.
    """
    given = [name for name, value in (("window", window), ("stride", stride), ("top_k", top_k)) if value is not None]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} exclude each other: set one of them")
    if window is not None:
        return Window(window, causal_only=causal_only)
    if stride is not None:
        return Strided(stride, causal_only=causal_only)
    rule = causal if causal_only else everywhere
    return Pattern(rule) if top_k is None else TopK(top_k, rule)
