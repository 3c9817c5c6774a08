"""Every command that a page names can be typed: the script is there, and so is each of its flags and settings."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from hydra._internal.utils import get_args_parser

from tests.scripts import load
from translator.cli.translate_flags import parse

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_COMMAND = re.compile(r"(?:python scripts/\w+\.py|(?<!\S)translate(?= -))[^`\n]*")
_ENDS = ("|", ">", "<", "&&", "...")


def commands(text: str) -> list[list[str]]:
    """The words of every command in a page, up to where it is piped somewhere."""
    found = [shlex.split(line, comments=True) for line in _COMMAND.findall(text.replace("\\\n", " "))]
    ends = [min([words.index(end) for end in _ENDS if end in words], default=len(words)) for words in found]
    return [words[:end] for words, end in zip(found, ends, strict=True)]


def check(words: list[str]) -> None:
    """Fail where the command does not know what it is given."""
    if words[0] == "translate":
        parse(words[1:])
        return
    script = ROOT / words[1]
    assert script.is_file(), words
    if script.name in ("train.py", "evaluate.py"):
        for override in get_args_parser().parse_args(words[2:]).overrides:
            assert is_known(override), words
        return
    module = load(script.stem)
    module.build_parser().parse_args(words[2:])


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
        check(words)


def test_commands_are_found_as_they_stand_in_a_page() -> None:
    page = "`python scripts/a.py --x 'b c' ...` and\n```\necho a | translate -m D | cat   # words\n"
    page += "python scripts/b.py d \\\n    e > f\n```"
    assert commands(page) == [
        ["python", "scripts/a.py", "--x", "b c"],
        ["translate", "-m", "D"],
        ["python", "scripts/b.py", "d", "e"],
    ]


@pytest.mark.parametrize("override", ["data=nowhere", "model.d_modle=3", "attention=mha,mmha", "nme=x"])
def test_a_setting_that_is_not_there_is_noticed(override: str) -> None:
    assert not is_known(override)
