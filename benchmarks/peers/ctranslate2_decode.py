"""CTranslate2 over the exported weights, in the number format that the job names."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import ctranslate2

from benchmarks.peers.common import NOT_HERE, Ids, Job, time_decoding


def load(job: Job) -> Callable[[list[Ids], list[int]], list[Ids]]:
    """The exported model and its own search, on one replica; pieces go in and come out by name."""
    wanted = job["compute_type"]
    if wanted not in ctranslate2.get_supported_compute_types("cpu"):
        print(f"CTranslate2 does not compute in {wanted} on this processor: left out", file=sys.stderr)
        sys.exit(NOT_HERE)
    engine = ctranslate2.Translator(
        job["model"], device="cpu", compute_type=wanted, inter_threads=1, intra_threads=job["threads"]
    )
    job["ran_as"] = engine.compute_type
    names: list[str] = job["pieces"]
    index = {name: number for number, name in enumerate(names)}
    settings = json.loads(Path(job["model"], "config.json").read_text(encoding="utf-8"))
    eos = names[job["ids"]["eos_id"]]
    end = [] if settings.get("add_source_eos") else [eos]

    def translate(sources: list[Ids], limits: list[int]) -> list[Ids]:
        found = engine.translate_batch(
            [[names[i] for i in source] + end for source in sources], beam_size=job["beam"], length_penalty=1.0,
            max_decoding_length=max(limits), max_input_length=0, disable_unk=True,
            patience=job["patience"],
            return_end_token=True,  # else the end would not count in the length that a score is divided by
        )  # fmt: skip
        return [[index[name] for name in result.hypotheses[0] if name != eos] for result in found]

    return translate


if __name__ == "__main__":
    time_decoding(load, ["ctranslate2"])
