"""Does an exported folder say what the bundle says? The other program scores given translations, and so do we."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from translator.bundle import CONFIG
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.files import read_json
from translator.inference.teacher_forcing import batch_of, token_log_probs
from translator.interop.ctranslate2 import library
from translator.interop.record import vocabulary
from translator.model.transformer import Transformer

Ids = Sequence[int]

#: How far a log-probability of one piece may be off, by the numbers that the other program computes with. Rounding
#: weights to 16 or 8 bits changes a model, most where it expects nothing; beyond these it is likely another model.
TOLERANCES = {"float64": 1e-5, "float32": 1e-4, "float16": 0.05, "bfloat16": 0.2, "int16": 0.05}
ROUNDED = 3.0


@torch.no_grad()
def largest_difference(
    model: Transformer, tokenizer: Tokenizer, directory: Path, sources: Sequence[Ids], targets: Sequence[Ids]
) -> tuple[float, float]:
    """The largest difference between their and our log p of a target piece, and how large it may be.

    Sources and targets are piece ids without special pieces; the end of sentence is scored, too. Raises UserError
    where the folder is none of an export, or the library that reads it is missing or cannot use it.
    """
    settings = read_json(directory / CONFIG)
    if (directory / "model.bin").is_file():
        theirs, computed = _scores_of_ctranslate2(tokenizer, directory, sources, targets)
    elif settings.get("architectures"):
        theirs, computed = _scores_of_huggingface(directory, sources, targets), "float64"
    else:
        raise UserError(f"{directory} is no exported model: give a folder that scripts/export.py wrote")
    ours = piece_scores(model, sources, targets)
    differences = [(a - b).abs().max() for a, b in zip(ours, theirs, strict=True)]
    return float(torch.stack(differences).max()), TOLERANCES.get(computed, ROUNDED)


def piece_scores(model: Transformer, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Tensor]:
    """Our log p of each piece of each target, its end included -> (T + 1,) a target, as exact as the model is."""
    scores = []
    for source, target in zip(sources, targets, strict=True):
        batch = batch_of(model, [source], [target])
        logits = model(batch.src_ids, batch.src_valid, batch.tgt_in)  # (1, T + 1, V)
        scores.append(token_log_probs(logits, batch.tgt_out)[0].double())
    return scores


def _scores_of_ctranslate2(
    tokenizer: Tokenizer, directory: Path, sources: Sequence[Ids], targets: Sequence[Ids]
) -> tuple[list[Tensor], str]:
    """Theirs, and the type of numbers that they come from."""
    pieces = vocabulary(tokenizer)
    try:
        translator = library().Translator(str(directory), device="cpu", intra_threads=1)
        found = translator.score_batch(
            [[pieces[i] for i in source] for source in sources], [[pieces[i] for i in target] for target in targets]
        )
    except (RuntimeError, ValueError) as error:
        raise UserError(f"CTranslate2 cannot use {directory}: {error}") from error
    return [torch.tensor(one.log_probs, dtype=torch.float64) for one in found], str(translator.compute_type)


def _scores_of_huggingface(directory: Path, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Tensor]:
    try:
        from transformers import AutoModelForSeq2SeqLM
    except ImportError as error:
        raise UserError(f"to compare with {directory}, install its library: pip install transformers") from error
    try:
        model = AutoModelForSeq2SeqLM.from_pretrained(str(directory), local_files_only=True).eval().double()
    except (OSError, ValueError, RuntimeError) as error:
        raise UserError(f"transformers cannot use {directory}: {error}") from error
    end, start = model.config.eos_token_id, model.config.decoder_start_token_id
    scores = []
    for source, target in zip(sources, targets, strict=True):
        given = {"input_ids": torch.tensor([[*source, end]]), "decoder_input_ids": torch.tensor([[start, *target]])}
        scores.append(token_log_probs(model(**given).logits[0], torch.tensor([*target, end])))
    return scores
