"""Hugging Face ``generate`` over the exported weights, in float32."""

from collections.abc import Callable

import torch
from transformers import AutoModelForSeq2SeqLM

from benchmarks.peers.common import Ids, Job, time_decoding


def load(job: Job) -> Callable[[list[Ids], list[int]], list[Ids]]:
    """The exported model and its own search; it has one length limit a batch, the longest of ours."""
    torch.set_num_threads(job["threads"])
    model = AutoModelForSeq2SeqLM.from_pretrained(job["model"], dtype=torch.float32).eval()
    model.generation_config.max_length = None  # the job has limits of its own
    ids = job["ids"]
    eos, pad = ids["eos_id"], ids["pad_id"]

    def translate(sources: list[Ids], limits: list[int]) -> list[Ids]:
        width = max(map(len, sources)) + 1
        rows = [[*source, eos, *[pad] * (width - len(source) - 1)] for source in sources]
        lengths = torch.tensor([len(source) + 1 for source in sources])
        found = model.generate(
            input_ids=torch.tensor(rows), attention_mask=(torch.arange(width) < lengths[:, None]).long(),
            num_beams=job["beam"], do_sample=False, length_penalty=1.0, max_new_tokens=max(limits),
            early_stopping=job["early_stopping"],
            suppress_tokens=[ids["unk_id"], pad, ids["bos_id"]],
        )  # fmt: skip
        return [pieces(row, eos) for row in found[:, 1:].tolist()]

    return translate


def pieces(row: Ids, eos: int) -> Ids:
    """What was produced before the end of sentence."""
    return row[: row.index(eos)] if eos in row else row


if __name__ == "__main__":
    time_decoding(load, ["torch", "transformers"])
