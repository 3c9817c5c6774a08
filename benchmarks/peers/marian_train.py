"""Hugging Face's ``MarianMTModel`` in a plain loop."""

from collections.abc import Callable
from typing import Any

from transformers import MarianConfig, MarianMTModel

from benchmarks.peers.common import Job, plain_update, time_training


def build(job: Job, ids: dict[str, int]) -> Callable[[Any], float]:
    """A model of the same sizes in training mode and its update."""
    sizes = job["model"]
    config = MarianConfig(
        vocab_size=ids["vocab_size"], d_model=sizes["d_model"],
        encoder_layers=sizes["n_encoder_layers"], decoder_layers=sizes["n_decoder_layers"],
        encoder_attention_heads=sizes["n_heads"], decoder_attention_heads=sizes["n_heads"],
        encoder_ffn_dim=sizes["d_ff"], decoder_ffn_dim=sizes["d_ff"], activation_function="relu",
        dropout=sizes["dropout"], attention_dropout=sizes["attention_dropout"],
        activation_dropout=sizes["activation_dropout"], scale_embedding=True, use_cache=False,
        pad_token_id=ids["pad_id"], bos_token_id=ids["bos_id"], eos_token_id=ids["eos_id"],
        decoder_start_token_id=ids["bos_id"], forced_eos_token_id=None,
    )  # fmt: skip
    model = MarianMTModel(config).train()

    def logits_of(batch: Any) -> Any:
        mask = batch.src_valid.long()
        return model(input_ids=batch.src_ids, attention_mask=mask, decoder_input_ids=batch.tgt_in).logits

    return plain_update(model, logits_of, job["precision"])


if __name__ == "__main__":
    time_training(build, ["torch", "transformers"])
