"""Folders for the Hugging Face library `transformers`, written without it, and read back.

    model = AutoModelForSeq2SeqLM.from_pretrained("FOLDER")
    tokenizer = AutoTokenizer.from_pretrained("FOLDER")
    model.generate(**tokenizer(["A dog runs."], return_tensors="pt"))

Which class, and how it searches: `huggingface_settings`. The weights are ours under other names, with the dimensions
of the residual stream in another order where positions are sinusoids (`layout`). Learned positions stand where the
class keeps its sinusoids; Marian's class reads them from the file but leaves them out when it saves, so a post-norm
model with learned positions must not be saved again by `transformers`. Pre-norm models with untied embeddings need
version 5 of it: earlier ones share them in this class whatever the file says.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from translator.bundle import CONFIG, TOKENIZER, WEIGHTS, Bundle, read_tensors, write_tensors
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.files import new_folder, read_json, write_json
from translator.interop import layout
from translator.interop.dense import dense, position_table
from translator.interop.huggingface_settings import generation_settings, model_settings, tokenizer_settings
from translator.interop.record import recalled
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer


def export_huggingface(bundle: Bundle, directory: Path) -> None:
    """Write ``bundle`` as a folder that ``from_pretrained`` takes.

    Raises UserError where the folder exists, or the model is none that the classes can hold.
    """
    bundle = replace(bundle, model=dense(bundle.model, "Hugging Face"))
    config, weights = bundle.model.config, their_weights(bundle.model)
    positions = len(weights[layout.POSITIONS[0]])
    tokenizer, vocabulary = tokenizer_settings(bundle)
    with new_folder(directory) as folder:
        write_tensors(folder / WEIGHTS, weights)
        write_json(folder / CONFIG, model_settings(bundle, positions))
        write_json(folder / "generation_config.json", generation_settings(config, positions))
        write_json(folder / "tokenizer_config.json", tokenizer)
        write_json(folder / "vocab.json", vocabulary)
        for name in (TOKENIZER, "source.spm", "target.spm"):
            bundle.tokenizer.save(folder / name)


def import_huggingface(directory: Path) -> Bundle:
    """Read a folder that `export_huggingface` wrote: the bundle that it was made from.

    Raises UserError for another folder, or a damaged one.
    """
    if not directory.is_dir():
        raise UserError(f"there is no folder {directory}: give one that scripts/export.py wrote")
    record = recalled(read_json(directory / CONFIG), directory)
    tokenizer = Tokenizer.load(directory / TOKENIZER, **record["tokenizer"])
    model = Transformer(ModelConfig.from_dict(record["model"]))
    path = directory / WEIGHTS
    weights, back = read_tensors(path), layout.their_order(model.config).argsort()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            theirs = layout.their_names(name, model.config)[0]
            if theirs not in weights or weights[theirs].shape != parameter.shape:
                found = tuple(weights[theirs].shape) if theirs in weights else "no tensor of this name"
                raise UserError(f"{path}: {theirs} should have shape {tuple(parameter.shape)}; there is {found}")
            parameter.copy_(layout.reordered(name, weights[theirs], back))
    return Bundle(model.eval(), tokenizer, record)


@torch.no_grad()
def their_weights(model: Transformer) -> dict[str, Tensor]:
    """All tensors that the class wants, by its names, in float32 on the CPU and none sharing memory."""
    config = model.config
    order = layout.their_order(config)
    weights = {
        layout.their_names(name, config)[0]: layout.reordered(name, parameter.detach().float().cpu(), order)
        for name, parameter in model.named_parameters()
    }
    if config.norm == "pre" and config.tie_embeddings != "all":  # one switch for all: what is tied here stands twice
        weights[layout.SHARED] = weights[layout.SOURCE].clone()
        weights.setdefault(layout.OUTPUT, weights[layout.TARGET].clone())
    for name, embeddings in zip(layout.POSITIONS, (model.src_embeddings, model.tgt_embeddings), strict=True):
        weights[name] = position_table(embeddings).cpu()[:, order].contiguous()
    bias = torch.zeros(1, config.vocab_size)
    weights[layout.BIAS] = bias.index_fill(1, model.excluded_ids.cpu(), float("-inf"))
    return weights
