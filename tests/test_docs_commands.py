"""Every command that a page names can be typed: it is there, and so is each of its flags and settings."""

import contextlib
import re
import shlex
from pathlib import Path

import pytest
import yaml
from hydra._internal.utils import get_args_parser

from benchmarks.command import build_parser as benchmark_parser
from tests.scripts import load
from translator.cli.command import Command
from translator.cli.main import COMMANDS
from translator.cli.translate_flags import parse
from translator.errors import UserError

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_COMMAND = re.compile(
    r"(?:python scripts/\w+\.py|(?<!\S)translate(?= -)|(?:^|(?<=\| ))(?:\S+/)?translator(?= [a-z]))[^\n]*", re.MULTILINE
)
_ENDS = ("|", ">", "<", "&&", "...")


def commands(text: str) -> list[list[str]]:
    """The words of every command in a page, up to where it is piped somewhere."""
    code = "\n".join(block or span for block, span in _CODE.findall(text.replace("\\\n", " ")))
    found = [shlex.split(line, comments=True) for line in _COMMAND.findall(code)]
    ends = [min([words.index(end) for end in _ENDS if end in words], default=len(words)) for words in found]
    return [words[:end] for words, end in zip(found, ends, strict=True)]


def check(words: list[str]) -> None:
    """Fail where the command does not know what it is given."""
    if words[0] == "translate":
        parse(words[1:])
        return
    name = Path(words[1]).stem
    if name in ("train", "evaluate"):
        for override in get_args_parser().parse_args(words[2:]).overrides:
            assert is_known(override), words
    elif words[0] == "python":
        load(name).build_parser().parse_args(words[2:])
    elif name == "benchmark":
        benchmark_parser().parse_args(words[2:])
    else:
        command = COMMANDS[name][1]
        assert isinstance(command, Command), words
        command.build_parser(name).parse_args(words[2:])


def is_known(override: str) -> bool:
    """Whether `conf/` has such a choice, or a key that can be set."""
    key, _, value = override.partition("=")
    if (CONF / key).is_dir():
        return all((CONF / key / f"{choice}.yaml").is_file() for choice in value.split(","))
    group, _, name = key.rpartition(".")
    return any(name in yaml.safe_load(file.read_text(encoding="utf-8")) for file in (CONF / group).glob("*.yaml"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_known_with_all_its_flags(page: Path) -> None:
    for words in commands(page.read_text(encoding="utf-8")):
        with contextlib.suppress(SystemExit):  # --help: mistakes raise other exceptions
            check(words)


def test_commands_are_found_as_they_stand_in_a_page() -> None:
    page = "`python scripts/a.py --x 'b c' ...` and\n```\necho a | translate -m D | cat   # words\n"
    page += "python scripts/b.py d \\\n    e > f\n.venv/bin/translator heads d\nfrom translator import it\n```\n"
    page += "translator is a name, and `translator aer d --json -` a command"
    assert commands(page) == [
        ["python", "scripts/a.py", "--x", "b c"],
        ["translate", "-m", "D"],
        ["python", "scripts/b.py", "d", "e"],
        [".venv/bin/translator", "heads", "d"],
        ["translator", "aer", "d", "--json", "-"],
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("translator hedas d", KeyError),
        ("translator heads d --limt 3", UserError),
        ("translator train data=nowhere", AssertionError),
        ("python scripts/score.py --model d --source s --traget t", UserError),
        ("translator benchmark growth --modle tiny", UserError),
    ],
)
def test_a_command_that_cannot_be_typed_is_noticed(line: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        check(shlex.split(line))


@pytest.mark.parametrize("override", ["data=nowhere", "model.d_modle=3", "attention=mha,mmha", "nme=x"])
def test_a_setting_that_is_not_there_is_noticed(override: str) -> None:
    assert not is_known(override)
