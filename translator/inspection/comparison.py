"""Trainings compared: quality with its spread over seeds and its significance, size, memory and speed."""

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from translator.bundle import METRICS, read_config
from translator.data.corpus import load_split
from translator.data.parallel import ParallelText
from translator.errors import UserError
from translator.evaluation import measure
from translator.files import read_json
from translator.inference.options import TranslateOptions
from translator.inference.translator import Translation, Translator
from translator.inspection.own_data import own_data
from translator.inspection.summary import attention_sites, cache_size

_SEED = re.compile(r"(?:^|_)seed-(\d+)(?=_|$)")


@dataclass(frozen=True)
class Trained:
    """One bundle and what it does on the text that all are compared on."""

    directory: Path
    variant: str  # what it shares with its sisters of other seeds
    seed: int
    parameters: int
    cache: tuple[int, int]  # bytes of keys and values in float32: of a target token in each beam, of a source token
    train_speed: float  # real source and target tokens a second, over the whole training
    hypotheses: list[str]
    bleu: float
    speed: float  # source and target pieces a second while translating
    signature: str


@dataclass(frozen=True)
class Variant:
    """Trainings that differ in their seeds alone."""

    name: str
    runs: list[Trained]
    p_values: list[float]  # of each seed that the baseline has, too; empty for the baseline

    @property
    def bleu(self) -> tuple[float, float]:
        """Mean and sample standard deviation over the seeds (0 of a single one)."""
        scores = [run.bleu for run in self.runs]
        return statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else 0.0

    def figures(self) -> dict[str, Any]:
        """Everything as plain values, fit for a table or JSON; speeds are medians over the seeds."""
        first, (mean, deviation) = self.runs[0], self.bleu
        return {
            "variant": self.name,
            "seeds": [run.seed for run in self.runs],
            "bleu": mean,
            "bleu_deviation": deviation,
            "p_values": self.p_values,
            "parameters": first.parameters,
            "kv_bytes_target_token": first.cache[0],
            "kv_bytes_source_token": first.cache[1],
            "train_tokens_per_second": statistics.median(run.train_speed for run in self.runs),
            "decode_tokens_per_second": statistics.median(run.speed for run in self.runs),
        }


def compare(
    directories: Sequence[Path], split: str, limit: int | None, told: Callable[[Trained], None]
) -> tuple[list[Variant], ParallelText]:
    """Translate one split by all bundles, the first one's variant being the baseline.

    ``limit`` takes its first lines alone; ``told`` hears of each bundle when it is done. Returns the variants in the
    order in which they first appear, and the text. Raises UserError where a bundle is not there or not trained to its
    end, or its data cannot be reached.
    """
    data = own_data(read_config(directories[0]), directories[0], ": there is no text to compare on")
    whole = load_split(data, split)
    text = ParallelText(whole.sources[:limit], whole.targets[:limit])
    groups: dict[str, list[Trained]] = {}
    for directory in directories:
        run = _measured(directory, text)
        told(run)
        groups.setdefault(run.variant, []).append(run)
    (name, baseline), *others = groups.items()
    variants = [Variant(name, runs, _p_values(baseline, runs, text.targets)) for name, runs in others]
    return [Variant(name, baseline, []), *variants], text


def variant_of(name: str) -> str:
    """A bundle's name without the seed that a sweep put into it."""
    return _SEED.sub("", name).strip("_") or name


def _measured(directory: Path, text: ParallelText) -> Trained:
    metrics = read_json(directory / METRICS) if (directory / METRICS).is_file() else {}
    if "tokens_per_second" not in metrics:
        raise UserError(f"{directory} has no figures of a whole training: let it finish, then compare")
    options = TranslateOptions.from_keywords(read_config(directory).get("decode", {}))
    translator = Translator.load_frozen(directory)
    found: list[Translation] = []

    def translate(lines: Sequence[str]) -> list[str]:
        found[:] = translator.translate_lines(lines, options)
        return [translation.text for translation in found]

    translate(text.sources[:8])  # the first batch pays for what is made once
    hypotheses, scores = measure(translate, text.sources, text.targets)
    pieces = sum(len(translation.tokens) + 1 for translation in found)
    pieces += sum(len(translator.tokenizer.encode(line)) + 1 for line in text.sources)
    cache = cache_size(attention_sites(translator.model))
    return Trained(
        directory, variant_of(directory.name), int(metrics["seed"]), int(metrics["parameters"]),
        (cache.target_token, cache.source_token), float(metrics["tokens_per_second"]), hypotheses,
        scores["bleu"], pieces / scores["seconds"], scores["signature"]["bleu"],
    )  # fmt: skip


def _p_values(baseline: Sequence[Trained], others: Sequence[Trained], references: Sequence[str]) -> list[float]:
    """Paired bootstrap of the difference in BLEU (Koehn 2004), by sacreBLEU, seed by seed."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    found = []
    for other, base in product(others, baseline):
        if base.seed == other.seed:
            systems = [("baseline", base.hypotheses), (other.variant, other.hypotheses)]
            test = PairedTest(systems, {"BLEU": BLEU()}, [list(references)], test_type="bs")
            found.append(float(test()[1]["BLEU"][1].p_value))
    return found
