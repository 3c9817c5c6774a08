"""This project: the search as translating runs it, from the bundle itself, in the precision that the job names."""

from collections.abc import Callable

from common import Ids, Job, time_decoding


def load(job: Job) -> Callable[[list[Ids], list[int]], list[Ids]]:
    """The bundle, and a search over its cached steps."""
    import torch

    from translator.data.padding import pad
    from translator.decoding.beam import beam_search
    from translator.decoding.search import SearchRules
    from translator.inference.translator import Translator

    translator = Translator.load_frozen(job["model"], "cpu", job["precision"], job["threads"])
    config, searched, cpu = translator.model.config, translator.searched, torch.device("cpu")
    rules = SearchRules(config.bos_id, config.eos_id, banned=(config.unk_id,))

    @torch.no_grad()
    def translate(sources: list[Ids], limits: list[int]) -> list[Ids]:
        ids, valid = pad([[*source, config.eos_id] for source in sources], config.pad_id, cpu)
        state = searched.start(ids, valid)
        found = beam_search(searched.step, state, torch.tensor(limits), rules, beam_size=job["beam"])
        return [list(best.ids) for best, *_ in found]

    return translate


if __name__ == "__main__":
    time_decoding(load, ["torch"])
