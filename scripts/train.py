"""Train a translator: ``python scripts/train.py [data=...] [model=...] [key=value ...]``.

The last line on stdout is one JSON object with the figures of the run; everything else goes to stderr. Settings and
what they mean: conf/config.yaml and the folders beside it.
"""

import json
from typing import Any

from hydra_command import run

PATH_KEYS = (
    "name", "checkpoints", "data.root", "data.train", "data.valid", "data.test", "data.path", "data.name",
    "tokenizer.model", "init_from",
)  # fmt: skip


def main(config: dict[str, Any]) -> None:
    """Train once and print the figures."""
    from translator.training.run import train

    print(json.dumps(train(config), ensure_ascii=False))


if __name__ == "__main__":
    run("config", main, path_keys=PATH_KEYS)
