"""The program: ``translator COMMAND ...``. What a command takes and does stands in the file of its name."""

import sys
from collections.abc import Callable, Sequence

from translator.cli import (
    aer,
    align,
    benchmark,
    compare,
    evaluate,
    export,
    heads,
    import_model,
    inspect,
    prune,
    score,
    selfcheck,
    share_heads,
    train,
    translate,
)
from translator.cli.command import MISTAKE, Command, exit_status
from translator.cli.streams import LineWriter, say
from translator.errors import did_you_mean

#: Name: what it does, and the command, or what takes the name of the program and the arguments in its place.
COMMANDS: dict[str, tuple[str, Command | Callable[[str, Sequence[str]], int]]] = {
    "train": ("train a model: key=value settings", train.main),
    "evaluate": ("score a model on a test set: key=value settings", evaluate.main),
    "translate": ("translate line by line; also a program of its own", lambda _, rest: translate.main(rest)),
    "score": ("log-probability of given translations", score.COMMAND),
    "align": ("cross-attention for a sentence: heat map, picture, page, figures", align.COMMAND),
    "inspect": ("parameters, settings, attention and scores of a model", inspect.COMMAND),
    "heads": ("what each attention head is worth and looks at", heads.COMMAND),
    "aer": ("alignment error rate of each layer and head", aer.COMMAND),
    "prune": ("remove attention heads, or see what that would cost", prune.COMMAND),
    "share-heads": ("fewer key/value heads: grouped-query or multi-query attention", share_heads.COMMAND),
    "export": ("write a model for CTranslate2 or Hugging Face", export.COMMAND),
    "import": ("read a Hugging Face folder that export wrote", import_model.COMMAND),
    "selfcheck": ("compute the same in different ways and compare", selfcheck.COMMAND),
    "compare": ("trainings side by side, over seeds", compare.COMMAND),
    "benchmark": ("speed and memory (in a checkout of the project)", benchmark.main),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first argument names -> its exit status."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or [""]
    if name in ("-h", "--help"):
        return exit_status("translator", lambda: LineWriter("-").write(_help()))
    if name not in COMMANDS:
        known = did_you_mean(name, COMMANDS) or "; commands are listed by translator --help"
        say(f"error: {f'there is no command {name!r}' if name else 'name a command'}{known}", "translator")
        return MISTAKE
    command = COMMANDS[name][1]
    return (command.main if isinstance(command, Command) else command)(f"translator {name}", rest)


def _help() -> list[str]:
    listed = [f"  {name:12} {told}" for name, (told, _) in COMMANDS.items()]
    return ["usage: translator COMMAND ...", "", *listed, "", "translator COMMAND --help tells what each takes."]
