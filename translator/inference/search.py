"""The third stage: parts -> the hypotheses that a search finds for each, in batches of similar lengths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

import torch

from translator.data.padding import length_batches, pad
from translator.decoding.beam import beam_search
from translator.decoding.hypothesis import Hypothesis
from translator.decoding.interface import S, Searchable, SearchRules
from translator.decoding.sampling import sample
from translator.errors import UserError
from translator.inference.encoding import Part
from translator.inference.options import EXTRA_PIECES, TranslateOptions
from translator.inference.segmentation import Limits
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer

Found = list[list[Hypothesis]]  # of each part, best first
#: (parts, options, index of the first line in its stream, which seeds sampling) -> hypotheses
Search = Callable[[Sequence[Part], TranslateOptions, int], Found]

#: Source pieces that go through a model at once, where its positions set no limit.
DEFAULT_INPUT_LENGTH = 512


@dataclass(frozen=True)
class Searcher(Generic[S]):
    """A `Search` through what a model writes; ``searched`` computes it, the model itself or a quicker form of it."""

    model: Transformer
    searched: Searchable[S]

    def __call__(self, parts: Sequence[Part], options: TranslateOptions, first_line: int) -> Found:
        """The hypotheses of each part; a sentence's do not depend on its batch."""
        rows = options.n_best if options.sample else options.beam_size
        found: Found = [[] for _ in parts]
        for batch in length_batches([(len(part.ids) + 1) * rows for part in parts], options.batch_tokens):
            results = self._batch([parts[i] for i in batch], options, first_line)
            for index, hypotheses in zip(batch, results, strict=True):
                found[index] = hypotheses
        return found

    def _batch(self, parts: Sequence[Part], options: TranslateOptions, first_line: int) -> Found:
        config, device = self.model.config, next(self.model.parameters()).device
        source, valid = pad([[*part.ids, config.eos_id] for part in parts], config.pad_id, device)
        limits = torch.tensor([output_limit(config, len(part.ids), options) for part in parts], device=device)
        banned = (config.unk_id,)
        rules = SearchRules(config.bos_id, config.eos_id, options.length_penalty, banned, options.no_repeat_ngram)
        step, state = self.searched.step, self.searched.start(source, valid)
        if not options.sample:
            return beam_search(step, state, limits, rules, beam_size=options.beam_size, n_best=options.n_best)
        return sample(
            step, state, limits, rules, seeds=[_seed(options.seed, first_line + p.line, p.start) for p in parts],
            n_best=options.n_best, temperature=options.temperature, top_k=options.top_k, top_p=options.top_p,
        )  # fmt: skip


def position_limit(config: ModelConfig) -> int | None:
    """The longest sequence, end of sentence included, where positions have an end."""
    return config.max_positions if config.positions == "learned" else None


def input_limits(config: ModelConfig, known: Limits | None, options: TranslateOptions) -> Limits:
    """What goes through the model at once: as the user says, else as much as training saw, else as much as it can take.

    Raises:
        UserError: more are asked for than the model has positions.
    """
    positions, asked = position_limit(config), options.max_input_length
    if positions is not None and asked is not None and asked > positions - 1:
        raise UserError(f"max_input_length ({asked}) is more than the model's positions allow ({positions - 1})")
    most = DEFAULT_INPUT_LENGTH if positions is None else positions - 1
    pieces = asked or min(most, most if known is None else known.pieces)
    return Limits(pieces, 1 if options.document else None if known is None else known.sentences)


def output_limit(config: ModelConfig, source_pieces: int, options: TranslateOptions) -> int:
    """The most pieces that a source may become, its end of sentence included."""
    limit = int(options.max_length_ratio * source_pieces) + EXTRA_PIECES
    return min(limit, options.max_length or limit, position_limit(config) or limit)


def _seed(seed: int, line: int, start: int) -> int:
    """A seed of its own for every part of every line."""
    return ((seed << 40) + line << 24) + start
