"""Score a checkpoint: ``translator evaluate checkpoint=DIR [split=test] [data=...] [decode.beam_size=5]``.

Prints a table on stderr and one JSON object on stdout, and writes the translations beside the checkpoint. Settings
and what they mean: conf/evaluate.yaml.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from translator.errors import UserError

PATH_KEYS = ("checkpoint", "data.root", "data.train", "data.valid", "data.test", "data.path", "data.name")
NAMES = {"bleu": "BLEU", "bleu_lowercased": "BLEU, lowercased", "chrf": "chrF", "ter": "TER (lower is better)"}

log = logging.getLogger(__name__)


def main(_program: str, arguments: Sequence[str]) -> int:
    """Evaluate as the arguments say -> exit status."""
    from translator.cli.composed import run

    return run("evaluate", evaluate, arguments, path_keys=PATH_KEYS)


def evaluate(config: dict[str, Any]) -> None:
    """Evaluate one checkpoint on one split."""
    from translator.bundle import read_config
    from translator.data.corpus import load_split
    from translator.evaluation import measure
    from translator.inference.options import TranslateOptions
    from translator.inference.translator import Translator

    directory, split = Path(config["checkpoint"]), str(config["split"])
    options = TranslateOptions.from_keywords(config["decode"])
    data = data_config(config["data"], read_config(directory), directory)
    try:
        parallel = load_split(data, split)
    except UserError as error:
        if config["data"]["kind"] != "bundle":
            raise
        elsewhere = "data.root=DIRECTORY, or data=files data.test=[SOURCE,REFERENCE]"
        raise UserError(f"{error}; say where the data is now: {elsewhere}") from error
    translator = Translator.load_frozen(directory, config["device"], config["precision"], config["threads"])

    def translate(lines: Sequence[str]) -> list[str]:
        return [translation.text for translation in translator.translate_lines(lines, options)]

    log.info("translating %d sentences from %s to %s", len(parallel), data["source"], data["target"])
    hypotheses, metrics = measure(translate, parallel.sources, parallel.targets)
    path = directory / f"hypotheses.{data['kind']}.{split}.{data['target']}"
    try:
        path.write_bytes("".join(f"{line}\n" for line in hypotheses).encode())
        written: str | None = str(path)
    except OSError as error:  # scores that took long are not thrown away because a folder is read-only
        log.warning("the translations were not written: %s: %s", path, error.strerror)
        written = None
    _show(f"{directory} on {split} ({data['kind']}, {data['source']} to {data['target']})", metrics)
    found = {"checkpoint": str(directory), "split": split, **metrics, "hypotheses": written}
    print(json.dumps(found, ensure_ascii=False))


def data_config(given: Mapping[str, Any], bundle: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """What to score on: the checkpoint's own data, or other data; what was given stands above what it remembers.

    Raises UserError where nothing was given and the checkpoint remembers nothing.
    """
    languages = {"source": bundle["source"], "target": bundle["target"]}
    told = {key: value for key, value in given.items() if value is not None}
    if given["kind"] != "bundle":
        return {**given, **languages, **told}
    remembered = bundle.get("data")
    if not isinstance(remembered, Mapping):
        example = "data=files data.test=[a,b]"
        raise UserError(f"{directory} does not say what it was trained on: name the data, as in {example}")
    if unknown := told.keys() - remembered.keys() - {"kind"}:
        raise UserError(
            f"data.{min(unknown)} means nothing for the checkpoint's own data (kind {remembered['kind']}): "
            "name other data, as in data=files data.test=[SOURCE,REFERENCE]"
        )
    return {**remembered, **languages, **told, "kind": remembered["kind"]}


def _show(title: str, metrics: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Column, Table

    table = Table("metric", Column("score", justify="right"), title=title, title_justify="left")
    for key, name in NAMES.items():
        table.add_row(name, f"{metrics[key]:.2f}")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(table)
    console.print(*metrics["signature"].values(), sep="\n")
    console.print(
        f"{metrics['sentences']} sentences ({metrics['empty_hypotheses']} empty translations, "
        f"{metrics['empty_references']} empty references) in {metrics['seconds']:.1f} s, "
        f"{metrics['sentences_per_second']:.1f} sentences/s"
    )
