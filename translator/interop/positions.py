"""Positions as a table: other programs look them up, whatever they were made of."""

from torch import Tensor

from translator.model.embeddings import Embeddings, sinusoids

#: Rows of sinusoids that are written at least. Ours have no end; this covers what the search may produce of the
#: longest source that is translated whole (2 * 512 + 10), twice over.
ROWS = 2048


def position_table(embeddings: Embeddings) -> Tensor:
    """What is added at each position -> (rows, D) float32: the learned vectors, or `ROWS` sinusoids and more."""
    if embeddings.learned is not None:
        return embeddings.learned.weight.detach().float()
    d_model = embeddings.tokens.weight.shape[1]
    return sinusoids(max(embeddings.max_positions, ROWS), d_model).float()
