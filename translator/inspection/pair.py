"""Where a model looks while it writes a given translation: cross-attention of every layer and head for one pair."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from translator.alignment import Link
from translator.attention.capture import capture
from translator.data.lines import is_blank
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference import Translator
from translator.model.transformer import Transformer
from translator.reading import Reading, choose_reading


@dataclass(frozen=True)
class PairAttention:
    """Cross-attention for a source and a target of S and T pieces, the end of sentence counted in both.

    Row t of a matrix belongs to the step that writes target piece t (not to the step that reads it); its weights
    over the source pieces sum to 1.
    """

    source: str
    target: str
    source_pieces: list[str]
    target_pieces: list[str]
    layers: list[Tensor]  # one (H, T, S) a decoder layer, first layer first
    reading: Reading  # the layer and heads that alignments are read from
    links: list[Link]  # between words, read from there

    def mean(self) -> Tensor:
        """The chosen layer, averaged over the chosen heads -> (T, S); row t is that of the chosen step.

        Nothing reads the end of sentence, so at the input step its row is zeros.
        """
        mean = self.layers[self.reading.layer][list(self.reading.heads)].mean(dim=0)
        if self.reading.step == "output":
            return mean
        return torch.cat([mean[1:], torch.zeros_like(mean[:1])])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; ``cross_attention`` is nested as layer, head, target piece, source piece."""
        return {
            "source": self.source,
            "target": self.target,
            "source_pieces": self.source_pieces,
            "target_pieces": self.target_pieces,
            "layer": self.reading.layer,
            "heads": list(self.reading.heads),
            "step": self.reading.step,
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
) -> PairAttention:
    """Force the target (the model's own translation where none is given) and record all cross-attention.

    ``layer`` and ``heads`` choose the reading as in `choose_reading`. Raises UserError for a blank side, or a layer
    or head that does not exist.
    """
    if is_blank(source):
        raise UserError("the source is blank: there is nothing to look at; give a sentence")
    if target is None:
        target = translator.translate([source])[0].text
    if is_blank(target):
        raise UserError("the target is blank: there is nothing to look at; give a translation (--target)")
    model, tokenizer = translator.model, translator.tokenizer
    source_ids, source_pieces = _pieces(tokenizer, source)
    target_ids, target_pieces = _pieces(tokenizer, target)
    weights = _cross_attention(model, source_ids, [tokenizer.bos_id, *target_ids[:-1]])
    reading = choose_reading([len(of_layer) for of_layer in weights], layer, heads, translator.reading)
    chosen = {"align_layer": reading.layer, "align_heads": reading.heads, "align_step": reading.step}
    links = translator.align([source], [target], **chosen)[0].links
    return PairAttention(source, target, source_pieces, target_pieces, weights, reading, links)


def _pieces(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[str]]:
    """Ids and pieces of a text, end of sentence included."""
    ids = [*tokenizer.encode(text), tokenizer.eos_id]
    return ids, tokenizer.pieces(ids)


def _cross_attention(model: Transformer, source: list[int], target_in: list[int]) -> list[Tensor]:
    """Per-head weights of every decoder layer, without dropout: (H, T, S) each, float32 on the CPU."""
    device, training = next(model.parameters()).device, model.training
    source_ids, target_ids = torch.tensor([source], device=device), torch.tensor([target_in], device=device)
    valid = torch.ones_like(source_ids, dtype=torch.bool)
    model.eval()
    try:
        with torch.no_grad(), capture(model) as record:
            model.decode(target_ids, model.encode(source_ids, valid), valid)
    finally:
        model.train(training)
    return [record.cross[layer][0].float().cpu() for layer in sorted(record.cross)]
