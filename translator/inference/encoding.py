"""The second stage: segments of text -> pieces."""

from collections.abc import Sequence
from dataclasses import dataclass

from translator.data.tokenizer import Tokenizer
from translator.inference.segmentation import Segment


@dataclass(frozen=True)
class Part:
    """A segment as pieces: ``ids`` without special symbols, the word of each, and how many pieces of its line precede.

    ``line`` is the index of its line among those that are translated together; words are numbered within the line;
    ``before`` is the white space that divides it from the part before it.
    """

    line: int
    ids: list[int]
    words: list[int]
    start: int = 0
    before: str = ""


def encode(segments: Sequence[Segment], line: int, tokenizer: Tokenizer) -> list[Part]:
    """The parts of a line, but for those without words that the model knows."""
    parts: list[Part] = []
    start = 0
    for segment in segments:
        ids, words = tokenizer.encode_with_words(segment.text)
        # Of characters never seen alone the model would make up a sentence.
        if ids and not (tokenizer.unk_id in ids and not tokenizer.decode(ids)):
            parts.append(Part(line, ids, [segment.first_word + word for word in words], start, segment.before))
        start += len(ids)
    return parts
