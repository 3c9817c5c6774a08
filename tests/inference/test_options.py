"""Choices are checked by name and value before anything is loaded."""

from typing import Any

import pytest

from translator.cli.translate_flags import parse
from translator.errors import UserError
from translator.inference.options import TranslateOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beem_size": 3}, "no option 'beem_size'.*did you mean 'beam_size'"),
        ({"beam_size": 0}, "beam_size must be at least 1, not 0"),
        ({"beam_size": 2.0}, "beam_size must be a whole number"),
        ({"beam_size": True}, "beam_size must be a whole number"),
        ({"beam_size": 3, "n_best": 5}, r"n_best \(5\) is more than beam_size \(3\)"),
        ({"n_best": 0}, "n_best must be at least 1"),
        ({"length_penalty": float("nan")}, "length_penalty must be a finite number"),
        ({"length_penalty": 11.0}, "length_penalty must be between -10 and 10"),
        ({"no_repeat_ngram": -1}, "no_repeat_ngram must be at least 0"),
        ({"top_k": 5}, "need sampling"),
        ({"temperature": 0.5}, "need sampling"),
        ({"sample": True, "temperature": 0.0}, "temperature must be above 0"),
        ({"sample": True, "top_p": 0.0}, "top_p must be above 0"),
        ({"sample": True, "top_k": -1}, "top_k must be at least 0"),
        ({"sample": True, "seed": -1}, "seed must be at least 0"),
        ({"max_length_ratio": 0.0}, "max_length_ratio must be above 0"),
        ({"max_length": 0}, "max_length must be at least 1"),
        ({"max_input_length": 0}, "max_input_length must be at least 1"),
        ({"batch_tokens": 0}, "batch_tokens must be at least 1"),
        ({"on_long": "spilt"}, "on_long must be one of split, crop, error, not 'spilt'; did you mean 'split'"),
        ({"alignments": "hrad"}, "alignments must be one of.*did you mean 'hard'"),
        ({"alignments": 1.5}, "threshold must be above 0 and at most 1"),
        ({"alignments": "hard", "align_heads": "bets"}, "align_heads must be one of.*did you mean 'best'"),
        ({"alignments": "hard", "align_heads": ()}, "align_heads names no head"),
        ({"alignments": "hard", "align_layer": -1}, "align_layer must be at least 0"),
        ({"alignments": "hard", "align_step": "inputs"}, "align_step must be one of output, input"),
        ({"align_step": "input"}, "align_step and subwords need alignments"),
        ({"subwords": True}, "need alignments"),
    ],
)
def test_a_mistake_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        TranslateOptions.from_keywords(options)


def test_what_is_right_passes() -> None:
    TranslateOptions.from_keywords({"sample": True, "n_best": 9, "top_k": 5, "top_p": 0.9, "temperature": 2.0})
    TranslateOptions.from_keywords({"beam_size": 1, "alignments": 0.3, "align_heads": (0, 3), "align_layer": 1})


def test_the_step_of_alignments_has_a_flag() -> None:
    assert parse(["--alignments", "--align-step", "input"])[1].align_step == "input"
    assert parse(["--alignments"])[1].align_step is None
    with pytest.raises(UserError, match="argument --align-step: invalid choice: 'in'"):
        parse(["--alignments", "--align-step", "in"])
