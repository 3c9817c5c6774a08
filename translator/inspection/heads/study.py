"""A model and the pairs that its heads are studied with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from translator.data.batching import Batch
from translator.data.corpus import load_split
from translator.data.parallel import ParallelText, read_parallel
from translator.errors import UserError, at_least
from translator.evaluation import evaluate
from translator.inference.options import TranslateOptions
from translator.inference.teacher_forcing import batches, pair_log_probs
from translator.inference.translator import Translator
from translator.inspection.own_data import own_data
from translator.model.transformer import Transformer

GREEDY = TranslateOptions(beam_size=1)


@dataclass(frozen=True)
class Study:
    """Every figure about a head is taken on the same pairs, without dropout."""

    translator: Translator
    text: ParallelText

    @property
    def model(self) -> Transformer:
        """The model that is studied; its heads may be gated while figures are taken."""
        return self.translator.model

    @cached_property
    def batches(self) -> list[Batch]:
        """All pairs, padded, on the model's device."""
        sides = [[self.translator.tokenizer.encode(s) for s in side] for side in (self.text.sources, self.text.targets)]
        return [batch for _, batch in batches(self.model, *sides)]

    @torch.no_grad()
    def loss(self) -> float:
        """Nats per target piece, the end of sentence counted, by teacher forcing."""
        total = sum(float(pair_log_probs(self.model, batch).sum()) for batch in self.batches)
        return -total / sum(batch.n_tokens for batch in self.batches)

    def translate(self, limit: int | None = None) -> list[str]:
        """Greedy translations of the first so many sources."""
        found = self.translator.translate_lines(self.text.sources[:limit], GREEDY)
        return [translation.text for translation in found]

    def bleu(self) -> float:
        """BLEU of greedy translations."""
        return evaluate(self.translate(), self.text.targets).bleu


def load_text(
    config: Mapping[str, Any], directory: Path, files: Sequence[str] | None, split: str, limit: int
) -> ParallelText:
    """The first ``limit`` pairs with text on both sides: of two given files, else of the bundle's own data.

    ``config`` is the bundle's config.json.

    Raises:
        UserError: the data is not to be had, or holds no pair.
    """
    at_least("limit", limit, 1)
    if files:
        text = read_parallel(*files)
    else:
        data = own_data(config, directory, ": name files by --data SOURCE TARGET")
        try:
            text = load_split(data, split)
        except UserError as error:
            raise UserError(f"{error}; or name files by --data SOURCE TARGET") from error
    text = text.without_blank_sides()
    if not len(text):
        raise UserError("there is no pair with text on both sides: give others by --data SOURCE TARGET")
    return ParallelText(text.sources[:limit], text.targets[:limit])
