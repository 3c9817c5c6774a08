"""A model and the pairs that its heads are studied with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from translator.data.batching import Batch, collate
from translator.data.corpus import load_split
from translator.data.padding import length_batches
from translator.data.parallel import ParallelText, read_parallel
from translator.errors import UserError, at_least
from translator.evaluation import evaluate
from translator.inference.options import TranslateOptions
from translator.inference.translator import Translator
from translator.model.transformer import Transformer

#: Pairs times length of one teacher-forced batch: keeps logits and recorded weights small.
BATCH_TOKENS = 2048
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
        config, encode = self.model.config, self.translator.tokenizer.encode
        device = next(self.model.parameters()).device
        pairs = [(encode(s), encode(t)) for s, t in zip(self.text.sources, self.text.targets, strict=True)]
        groups = length_batches([max(len(s), len(t)) + 1 for s, t in pairs], BATCH_TOKENS)
        return [
            collate([pairs[i] for i in group], config.pad_id, config.bos_id, config.eos_id).to(device)
            for group in groups
        ]

    @torch.no_grad()
    def loss(self) -> float:
        """Nats per target piece, the end of sentence counted, by teacher forcing."""
        total = sum(float(pair_losses(self.model, batch).sum()) for batch in self.batches)
        return total / sum(batch.n_tokens for batch in self.batches)

    def translate(self, limit: int | None = None) -> list[str]:
        """Greedy translations of the first so many sources."""
        found = self.translator.translate_lines(self.text.sources[:limit], GREEDY)
        return [translation.text for translation in found]

    def bleu(self) -> float:
        """BLEU of greedy translations."""
        return evaluate(self.translate(), self.text.targets).bleu


def pair_losses(model: Transformer, batch: Batch) -> Tensor:
    """-log p(target, end of sentence | source) of every pair, a sum over pieces, in nats (B,)."""
    logits = model(batch.src_ids, batch.src_valid, batch.tgt_in)  # (B, T, V)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    steps = torch.log_softmax(logits, dim=-1).gather(2, batch.tgt_out[:, :, None])[:, :, 0]  # (B, T)
    return -steps.masked_fill(~batch.tgt_valid, 0.0).sum(dim=1)


def load_text(
    config: Mapping[str, Any], directory: Path, files: Sequence[str] | None, split: str, limit: int
) -> ParallelText:
    """The first ``limit`` pairs with text on both sides: of two given files, else of the bundle's own data.

    ``config`` is the bundle's config.json.

    Raises:
        UserError: the data is not to be had, or holds no pair.
    """
    at_least("limit", limit, 1)
    text = read_parallel(*files) if files else _remembered(config, directory, split)
    text = text.without_blank_sides()
    if not len(text):
        raise UserError("there is no pair with text on both sides: give others by --data SOURCE TARGET")
    return ParallelText(text.sources[:limit], text.targets[:limit])


def _remembered(config: Mapping[str, Any], directory: Path, split: str) -> ParallelText:
    data = config.get("data")
    if not isinstance(data, Mapping):
        raise UserError(f"{directory} does not say what it was trained on: name files by --data SOURCE TARGET")
    try:
        return load_split({**data, "source": config["source"], "target": config["target"]}, split)
    except UserError as error:
        raise UserError(f"{error}; or name files by --data SOURCE TARGET") from error
