"""What decoding remembers between two steps."""

from dataclasses import dataclass

from torch import Tensor

from translator.attention.cache import KV


@dataclass(frozen=True)
class DecoderState:
    """The cache of B sentences with N rows (beams) each; rows of a sentence stand together.

    ``self_kv`` holds one entry per layer with B*N rows; ``cross_kv`` one entry per layer with B rows, shared by the
    rows of a sentence, and nothing without cross-attention; ``src_valid`` (B, S), S = 0 without a memory; ``length``
    tokens have been read by every row.
    """

    cross_kv: tuple[KV, ...]
    src_valid: Tensor
    self_kv: tuple[KV | None, ...]
    length: int = 0

    def select(self, rows: Tensor) -> "DecoderState":
        """Go on with rows (B2, N2): line i holds the old row numbers that become the rows of the i-th kept sentence.

        One method expands to beams, reorders them and drops finished sentences. Sentences keep their order and are
        never duplicated, so B2 = B means that none has gone and the memory needs no copy.
        """
        flat = rows.flatten()
        self_kv = tuple(None if kv is None else kv.select(flat) for kv in self.self_kv)
        n_sentences = len(self.src_valid)
        if len(rows) == n_sentences:
            return DecoderState(self.cross_kv, self.src_valid, self_kv, self.length)
        first = self.self_kv[0]
        n_rows = n_sentences if first is None else first.k.shape[0]  # B*N; one per sentence before the first step
        sentences = rows[:, 0] // (n_rows // n_sentences)
        cross_kv = tuple(kv.select(sentences) for kv in self.cross_kv)
        return DecoderState(cross_kv, self.src_valid.index_select(0, sentences), self_kv, self.length)
