"""This project: the search as translating runs it, from the bundle itself, in the precision that the job names."""

from collections.abc import Callable
from typing import Any

from benchmarks.peers.common import Ids, Job, time_decoding


def load(job: Job) -> Callable[[list[Ids], list[int]], list[Ids]]:
    """The bundle, and a search over its cached steps."""
    import torch

    from translator.data.padding import pad
    from translator.decoding.beam import beam_search
    from translator.decoding.interface import SearchRules
    from translator.inference.translator import Translator

    translator = Translator.load_frozen(job["model"], "cpu", job["precision"], job["threads"])
    search: Any = translator.search
    searched = search.searched
    config, cpu = translator.model.config, torch.device("cpu")
    rules = SearchRules(config.bos_id, config.eos_id, banned=(config.unk_id,))

    @torch.no_grad()
    def translate(sources: list[Ids], limits: list[int]) -> list[Ids]:
        ids, valid = pad([[*source, config.eos_id] for source in sources], config.pad_id, cpu)
        state, longest = searched.start(ids, valid), torch.tensor(limits)
        found = beam_search(searched.step, state, longest, rules, beam_size=job["beam"])
        return [list(best.ids) for best, *_ in found]

    return translate


if __name__ == "__main__":
    time_decoding(load, ["torch"])
