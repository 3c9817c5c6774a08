"""Models without a network: every prefix of every sentence has its own next-token probabilities."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import torch
from torch import Tensor

from translator.decoding.interface import SearchRules

PAD, UNK, BOS, EOS = 0, 1, 2, 3
NEVER = float("-inf")
Prefix = tuple[int, ...]
NextToken = Callable[[int, Prefix], Tensor]  # (sentence, tokens so far) -> log_probs (V,)


@dataclass(frozen=True)
class Prefixes:
    """A state that is simply what it has read, and that holds callers of `select` to its contract."""

    rows: tuple[tuple[int, Prefix], ...]  # (sentence, ids read) of each row

    def select(self, rows: Tensor) -> "Prefixes":
        assert rows.dtype == torch.long
        assert rows.dim() == 2
        owners = [{self.rows[row][0] for row in line} for line in rows.tolist()]
        assert all(len(owner) == 1 for owner in owners), "a line of rows mixes sentences"
        sentences = [owner.pop() for owner in owners]
        assert sentences == sorted(set(sentences)), "sentences were reordered or duplicated"
        return Prefixes(tuple(self.rows[row] for row in rows.flatten().tolist()))


@dataclass
class Model:
    """Next-token log-probabilities as a step function; notes how many rows each step had."""

    next_token: NextToken
    steps: list[int] = field(default_factory=list)

    def start(self, sentences: Iterable[int]) -> Prefixes:
        return Prefixes(tuple((sentence, ()) for sentence in sentences))

    def step(self, last: Tensor, state: Prefixes) -> tuple[Tensor, Prefixes]:
        assert last.shape == (len(state.rows),)
        self.steps.append(len(state.rows))
        pairs = zip(state.rows, last.tolist(), strict=True)
        read = Prefixes(tuple((sentence, (*ids, token)) for (sentence, ids), token in pairs))
        assert all(ids[0] == BOS for _, ids in read.rows)
        return torch.stack([self.next_token(sentence, ids[1:]) for sentence, ids in read.rows]), read

    def forced(self, sentence: int, ids: Prefix, *, finished: bool) -> float:
        """The log-probability of an output, from scratch."""
        tokens = (*ids, EOS) if finished else ids
        return sum(self.next_token(sentence, tokens[:i])[t].item() for i, t in enumerate(tokens))


def normalised(weights: Tensor) -> Tensor:
    """Log-probabilities of weights (..., V), beginning and padding never possible."""
    weights = weights.clone()
    weights[..., [PAD, BOS]] = NEVER
    return weights.log_softmax(-1)


def random_model(seed: int, *, vocabulary: int = 7, spread: float = 1.5, end: float = 0.0, holes: float = 0.0) -> Model:
    """Probabilities that depend on the whole prefix, so that no mistake in carrying prefixes along is hidden.

    `end` is added to the end of sentence; `holes` is the share of words that are impossible.
    """
    known: dict[tuple[int, Prefix], Tensor] = {}

    def next_token(sentence: int, ids: Prefix) -> Tensor:
        if (sentence, ids) not in known:
            chance = random.Random(f"{seed} {sentence} {ids}")
            weights = torch.tensor([chance.gauss(0, spread) for _ in range(vocabulary)])
            weights[EOS] += end
            gone = torch.tensor([chance.random() < holes for _ in range(vocabulary)])
            gone[EOS] = False
            known[sentence, ids] = normalised(weights.masked_fill(gone, NEVER))
        return known[sentence, ids]

    return Model(next_token)


def chain(matrix: dict[int, dict[int, float]], *, vocabulary: int) -> Model:
    """A Markov chain written by hand: probability of the token after each token, BOS first."""
    table = torch.zeros(vocabulary, vocabulary)
    for before, row in matrix.items():
        for after, probability in row.items():
            table[before, after] = probability
    return Model(lambda _, ids: table[ids[-1] if ids else BOS].log())


def limits(*lengths: int) -> Tensor:
    return torch.tensor(lengths)


def rules(options: dict[str, Any]) -> SearchRules:
    """The rules among a test's options, which keep the rest."""
    names = {rule.name for rule in fields(SearchRules)} & options.keys()
    return SearchRules(BOS, EOS, **{name: options.pop(name) for name in names})
