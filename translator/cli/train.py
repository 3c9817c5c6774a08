"""Train a translator: ``translator train [data=...] [model=...] [key=value ...]``.

The last line on stdout is one JSON object with the figures of the run; everything else goes to stderr. Settings and
what they mean: conf/config.yaml and the folders beside it.
"""

import json
from collections.abc import Sequence
from typing import Any

PATH_KEYS = (
    "name", "checkpoints", "data.root", "data.train", "data.valid", "data.test", "data.path", "data.name",
    "tokenizer.model", "init_from",
)  # fmt: skip


def main(_program: str, arguments: Sequence[str]) -> int:
    """Train with the settings that the arguments name -> exit status."""
    from translator.cli.composed import run

    return run("config", _train, arguments, path_keys=PATH_KEYS)


def _train(config: dict[str, Any]) -> None:
    from translator.training.run import train

    print(json.dumps(train(config), ensure_ascii=False))
