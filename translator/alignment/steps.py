"""At which step of the decoder the weights of a target piece are read."""

from typing import TYPE_CHECKING

from translator.errors import one_of

if TYPE_CHECKING:  # named by command lines, which must answer before torch is loaded
    from torch import Tensor

ALIGN_STEPS = ("output", "input")


def at_step(weights: "Tensor", step: str) -> "Tensor":
    """Weights of all steps (..., T + 1, S) of a forced target of T pieces -> rows of its pieces (..., T, S).

    Step t reads piece t - 1 (step 0 the begin of sentence) and writes piece t (step T the end of sentence).

    "output": the row of a piece is that of the step that writes it, rows 0 to T - 1. The model does not know the piece
    yet, but has to find what to write.
    "input": the row of a piece is that of the step that reads it, one later, rows 1 to T (the shifted alignments of
    Chen et al. 2020, 2004.14837). The model knows the piece, but has to find the next one.

    Raises:
        UserError: another name.
    """
    one_of("step", step, ALIGN_STEPS)
    return weights[..., :-1, :] if step == "output" else weights[..., 1:, :]
