"""Where a model looks while it writes a given translation: attention of every kind, layer and head for one pair."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from translator.alignment.links import Link
from translator.alignment.reading import Reading, choose_reading
from translator.attention.capture import Record
from translator.data.lines import is_blank
from translator.data.tokenizer import USER_WORD
from translator.errors import UserError
from translator.inference.teacher_forcing import attention_weights, batch_of
from translator.inference.translator import Translator
from translator.model.transformer import Transformer


@dataclass(frozen=True)
class PairAttention:
    """Attention for a source and a target of S and T pieces, the end of sentence counted in both.

    Row t of a cross-attention matrix belongs to the step that writes target piece t (not to the step that reads it);
    its weights over the source pieces sum to 1. The decoder's self-attention looks at what it has read, so its rows
    and columns are the begin of sentence and then the target pieces without the last.
    """

    source: str
    target: str
    source_pieces: list[str]
    target_pieces: list[str]
    layers: list[Tensor]  # one (H, T, S) a decoder layer, first layer first
    reading: Reading  # the layer and heads that alignments are read from
    links: list[Link]  # between words, read from there
    encoder: list[Tensor] = field(default_factory=list)  # one (H, S, S) an encoder layer
    decoder: list[Tensor] = field(default_factory=list)  # one (H, T, T) a decoder layer
    begin: str = "<s>"  # the piece that the decoder reads first
    source_words: list[int] = field(default_factory=list)  # the word of each source piece, the last piece left out
    target_words: list[int] = field(default_factory=list)

    def mean(self) -> Tensor:
        """The weights at the places of the reading, averaged -> (T, S); the rows are called as `rows` says."""
        return self.reading.mean(self.layers)

    @property
    def rows(self) -> list[str]:
        """A name for each row of a cross-attention matrix: the piece that its step writes, or that it reads.

        Reading at the input step changes no weight, only what a row is called: the begin of sentence, then all pieces
        but the end of sentence, which nothing reads.
        """
        return self.target_pieces if self.reading.step == "output" else [self.begin, *self.target_pieces[:-1]]

    @property
    def done(self) -> str:
        """What the step of a row does with the piece that the row is named after."""
        return "written" if self.reading.step == "output" else "read"

    @property
    def reading_name(self) -> str:
        """The reading in words."""
        place = str(self.reading).removesuffix(f", {self.reading.step} step")
        return f"cross-attention of {place}, as each piece is {self.done}"

    def to_dict(self) -> dict[str, Any]:
        """All but self-attention as plain values; ``cross_attention`` is nested layer, head, target, source piece."""
        return {
            "source": self.source,
            "target": self.target,
            "source_pieces": self.source_pieces,
            "target_pieces": self.target_pieces,
            **self.reading.to_config(),
            "alignment": [list(link) for link in self.links],
            "cross_attention": [weights.tolist() for weights in self.layers],
        }


def attend(
    translator: Translator,
    source: str,
    target: str | None = None,
    *,
    layer: int | None = None,
    heads: str | tuple[int, ...] | None = None,
    step: str | None = None,
) -> PairAttention:
    """Force the target (the model's own translation where none is given) and record all attention.

    ``layer``, ``heads`` and ``step`` choose the reading as in `choose_reading`. Raises UserError for a blank side, or
    a layer or head that does not exist.
    """
    if is_blank(source):
        raise UserError("the source is blank: there is nothing to look at; give a sentence")
    if target is None:
        target = translator.translate([source])[0].text
    if is_blank(target):
        raise UserError("the target is blank: there is nothing to look at; give a translation (--target)")
    model, tokenizer = translator.model, translator.tokenizer
    source_ids, source_words = tokenizer.encode_with_words(source)
    target_ids, target_words = tokenizer.encode_with_words(target)
    record = _record(model, source_ids, target_ids)
    cross = _of_pair(record.cross)
    reading = choose_reading([len(of_layer) for of_layer in cross], layer, heads, translator.reading, step)
    source_pieces, target_pieces = (tokenizer.pieces([*ids, tokenizer.eos_id]) for ids in (source_ids, target_ids))
    links = Translator(model, tokenizer, reading).align([source], [target])[0].links
    return PairAttention(
        source, target, source_pieces, target_pieces, cross, reading, links,
        encoder=_of_pair(record.encoder), decoder=_of_pair(record.decoder),
        begin=tokenizer.pieces([tokenizer.bos_id])[0], source_words=source_words, target_words=target_words,
    )  # fmt: skip


def words_of(text: str) -> list[str]:
    """The words that ``source_words`` and ``target_words`` count: what stands between spaces and tabs."""
    return USER_WORD.findall(text)


def _record(model: Transformer, source: list[int], target: list[int]) -> Record:
    """Per-head weights of every layer, without dropout."""
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            return attention_weights(model, batch_of(model, [source], [target]))
    finally:
        model.train(training)


def _of_pair(weights: dict[int, Tensor]) -> list[Tensor]:
    """Recorded weights (1, H, Q, K) by layer -> (H, Q, K) each, float32 on the CPU, first layer first."""
    return [weights[layer][0].float().cpu() for layer in sorted(weights)]
