"""This project: updates as its training makes them, in float32."""

from collections.abc import Callable
from typing import Any

from common import Job, time_training


def build(sizes: Job, ids: dict[str, int]) -> Callable[[Any], float]:
    """The project's own model and update."""
    from translator.benchmarking.training import Updates
    from translator.model.config import ModelConfig
    from translator.model.transformer import Transformer

    return Updates(Transformer(ModelConfig.from_dict({**sizes, **ids})), "32-true").update


if __name__ == "__main__":
    time_training(build, ["torch"])
