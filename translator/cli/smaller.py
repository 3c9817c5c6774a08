"""A bundle that a command has made smaller: written as it is, or trained on first."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from translator.errors import at_least

if TYPE_CHECKING:
    from translator.bundle import Bundle


def add_finetune(parser: argparse.ArgumentParser) -> None:
    """For how long to train on."""
    parser.add_argument("--finetune", type=int, metavar="EPOCHS", help="train on, with the corpus of the bundle")


def check_finetune(found: argparse.Namespace) -> None:
    """Refuse less than an epoch."""
    if found.finetune is not None:
        at_least("--finetune", found.finetune, 1)


def write_smaller(found: argparse.Namespace, before: "Bundle", after: "Bundle", **how: Any) -> list[str]:
    """Write the bundle to --output, after --finetune epochs -> what was done; ``how`` is what `finetune` also takes."""
    from translator.bundle import save_new

    old, new = before.model.n_parameters, after.model.n_parameters
    lines = [f"parameters  {new:,} of {old:,} ({new / old:.1%})", f"written to  {found.output}"]
    if found.finetune is None:
        save_new(after, found.output)
        return lines
    from translator.training.run import finetune

    figures = finetune(after, found.directory, found.output, found.finetune, **how)
    return [*lines, f"fine-tuned  {json.dumps(figures, ensure_ascii=False)}"]
