"""The fourth stage: hypotheses -> text, with links to the source words where they are wanted."""

from collections.abc import Sequence

from torch import Tensor

from translator.alignment.links import Alignment, Side, drop_last_column, extract, extract_words
from translator.alignment.reading import Reading
from translator.data.tokenizer import Tokenizer
from translator.decoding.hypothesis import Hypothesis
from translator.inference import teacher_forcing
from translator.inference.encoding import Part
from translator.inference.options import TranslateOptions
from translator.inference.search import Found
from translator.inference.translation import Translation
from translator.model.transformer import Transformer


def decode(
    parts: Sequence[Part],
    found: Found,
    model: Transformer,
    tokenizer: Tokenizer,
    options: TranslateOptions,
    reading: Reading | None,
) -> list[list[Translation]]:
    """The candidates of each part as text; with a ``reading``, a second, teacher-forced pass finds their links."""
    pairs = [(part, hypothesis) for part, of_part in zip(parts, found, strict=True) for hypothesis in of_part]
    links: list[Alignment | None] = [None] * len(pairs)
    if reading is not None and options.alignments is not None:
        sources, targets = [part.ids for part, _ in pairs], [hypothesis.ids for _, hypothesis in pairs]
        matrices = teacher_forcing.cross_attention(model, sources, targets, reading)
        links = [
            align_part(part, hypothesis, matrix, tokenizer, options.alignments, options.subwords)
            for (part, hypothesis), matrix in zip(pairs, matrices, strict=True)
        ]
    written = (_text(pair[1], tokenizer, alignment) for pair, alignment in zip(pairs, links, strict=True))
    return [[next(written) for _ in of_part] for of_part in found]


def align_part(
    part: Part, hypothesis: Hypothesis, weights: Tensor, tokenizer: Tokenizer, mode: str | float, subwords: bool
) -> Alignment:
    """Links of a part and its hypothesis from weights (T, S + 1).

    Source indices count from the start of the line, target indices from the start of the part.
    """
    units = drop_last_column(weights)
    if subwords:
        return extract(units, mode, source_start=part.start)
    rows = target_words(hypothesis.ids, tokenizer)
    if not rows:
        return Alignment([], [])
    first = min(part.words)
    source = Side([word - first for word in part.words], tokenizer.lettered(part.ids))
    return extract_words(units, source, Side(rows, tokenizer.lettered(hypothesis.ids)), mode, source_start=first)


def target_words(ids: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """The word of each produced piece, as an index into the decoded text split at spaces.

    Read off the decoded prefixes, so that it holds for boundary marks that stand alone and for pieces that leave no
    trace in the text. Empty where the text is.
    """
    text = tokenizer.decode(list(ids))
    if not text:
        return []
    last = text.count(" ")
    return [min(tokenizer.decode(list(ids[: end + 1])).count(" "), last) for end in range(len(ids))]


def _text(hypothesis: Hypothesis, tokenizer: Tokenizer, alignment: Alignment | None) -> Translation:
    return Translation(
        text=tokenizer.decode(hypothesis.ids),
        score=hypothesis.score,
        tokens=tokenizer.pieces(hypothesis.ids),
        alignment=None if alignment is None else alignment.links,
        weights=None if alignment is None else alignment.weights,
        finished=hypothesis.finished,
    )
