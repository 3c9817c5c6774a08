"""This project: updates as its training makes them, in the precision that the job names."""

from collections.abc import Callable
from typing import Any

from benchmarks.peers.common import Job, time_training


def build(job: Job, ids: dict[str, int]) -> Callable[[Any], float]:
    """The project's own model and update; precision auto is what trainer=auto picks on this machine."""
    from benchmarks.training import Updates
    from translator.device import choose_training_precision
    from translator.model.config import ModelConfig
    from translator.model.transformer import Transformer

    job["ran_as"] = choose_training_precision(job["precision"], "cpu")
    return Updates(Transformer(ModelConfig.from_dict({**job["model"], **ids})), job["ran_as"]).update


if __name__ == "__main__":
    time_training(build, ["torch"])
