"""How fast a bundle translates: text to text, through the class that people use."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import parameters, rate, spread
from benchmarks.memory import PeakMemory
from benchmarks.profiling import show_profile
from benchmarks.timing import Job, timed
from benchmarks.uncached import UncachedTransformer
from translator.data.tokenizer import Tokenizer
from translator.device import choose_device, surroundings
from translator.inference.options import TranslateOptions
from translator.inference.translation import Translation
from translator.inference.translator import Translator

#: Larger than any batch: the number of sentences alone decides how batches are cut.
NO_LIMIT = 1 << 40


@dataclass(frozen=True)
class DecodeJob(Job):
    """One way to translate ``lines``, none of them blank: ``batch`` sentences at a time, with or without a cache."""

    checkpoint: str
    lines: tuple[str, ...]
    beam: int
    batch: int
    cache: bool = True


def decode_row(job: DecodeJob) -> dict[str, Any]:
    """Time a translation -> a row of figures.

    ``output_tokens`` are the pieces of the best hypotheses, their ends of sentence counted; ``padding`` is that of
    the source. ``outputs`` is a digest of all translations in the order of the lines: where it is the same, so are
    they.
    """
    device, _ = choose_device(job.device, job.precision, job.threads)
    load = Translator.load_frozen if job.cache else Translator.load
    translator = load(job.checkpoint, job.device, job.precision, job.threads)
    if not job.cache:
        translator = Translator(UncachedTransformer.of(translator.model), translator.tokenizer)
    order, lengths = by_length(job.lines, translator.tokenizer)
    groups = [order[start : start + job.batch] for start in range(0, len(order), job.batch)]
    options = TranslateOptions(beam_size=job.beam, batch_tokens=NO_LIMIT)

    def translate(chosen: Sequence[Sequence[int]]) -> dict[int, Translation]:
        found: dict[int, Translation] = {}
        for group in chosen:
            found |= zip(group, translator.translate_lines([job.lines[i] for i in group], options), strict=True)
        return found

    memory = PeakMemory()
    translate(groups[-1:])  # the shortest, to warm up
    seconds, found = timed(lambda: translate(groups), job.rounds, device)
    if job.profile:
        show_profile(lambda: translate(groups[:1]), device)
    outputs = [found[i] for i in range(len(job.lines))]
    produced = sum(len(t.tokens) + t.finished for t in outputs)
    return {
        "kind": "decode",
        **job.told("checkpoint", "beam", "batch", "cache", "precision", "rounds"),
        "parameters": parameters(translator.model),
        "sentences": len(job.lines),
        "source_tokens": sum(lengths),
        "output_tokens": produced,
        "padding": source_padding([[lengths[i] for i in group] for group in groups]),
        **spread("seconds", seconds),
        **rate("sentences_per_second", len(job.lines), seconds),
        **rate("tokens_per_second", produced, seconds),
        "outputs": digest([t.text for t in outputs]),
        **memory.row(device),
        **surroundings(device),
    }


def by_length(lines: Sequence[str], tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Indices of the lines, longest first as in translating, and of each line its pieces and end of sentence."""
    lengths = [len(tokenizer.encode(line)) + 1 for line in lines]
    return sorted(range(len(lines)), key=lambda i: -lengths[i]), lengths


def source_padding(groups: Sequence[Sequence[int]]) -> float:
    """Share of padding, 0 to 1, where rows of these lengths stand in a rectangle a group."""
    return 1 - sum(map(sum, groups)) / sum(len(group) * max(group) for group in groups)


def digest(lines: Sequence[str]) -> str:
    """A short name for the content of lines."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
