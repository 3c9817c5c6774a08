"""Run a function with a configuration composed from ``conf/`` and the command line.

The one place that knows Hydra: its commands (``key=value``, ``-m`` for sweeps, ``--cfg job``, ``--config-dir DIR``,
``--help``) work as documented there, and past this file a configuration is a plain dict. On top of Hydra: paths may
hold any character, a comma starts no sweep unless ``-m`` says so, and mistakes are one line on stderr and status 2.
"""

import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, Quote, QuotedString
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

from translator.cli.command import INTERRUPTED, MISTAKE
from translator.errors import UserError, did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]
#: Inside the package where it is installed, beside it in a checkout.
CONF = next((path for path in (_PACKAGE / "conf", _PACKAGE.parent / "conf") if path.is_dir()), _PACKAGE / "conf")
_ASSIGNMENT = re.compile(r"(?P<key>\+{0,2}[A-Za-z_][\w./@-]*)=(?P<value>.*)", re.DOTALL)


def run(
    config_name: str,
    main: Callable[[dict[str, Any]], None],
    arguments: Sequence[str],
    *,
    path_keys: Collection[str] = (),
    config_dir: Path = CONF,
) -> int:
    """Compose the configuration, call ``main`` with it (with ``-m``: once a combination) -> exit status.

    ``path_keys`` are the dotted names of values that are text whatever characters they hold; a list of such is
    written ``[a,b]``. Other exceptions of ``main`` than a user's mistake and an interrupt come through. In a sweep,
    ``variant`` (where the configuration has it) names the combination, and a mistake in one does not stop the others.
    """
    _speak_utf8()
    # Hydra otherwise cuts tracebacks short and ends with status 1 before anything can be said in one line.
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    typed, swept, mistakes = sys.argv, list[str](), list[Exception]()
    started = False

    def job(composed: DictConfig) -> None:
        nonlocal started
        started, sys.argv = True, typed  # what is noted as the command, and repeated by further processes
        try:
            main(_plain(composed, swept))
        except UserError as error:
            _report(error, mistakes)

    try:
        flags, settings, multirun = _sorted(arguments)
        settings = [readable(setting, path_keys, multirun) for setting in settings]
        swept += [read.get_key_element() for read in map(_parse, settings) if read and read.is_sweep_override()]
        sys.argv = [typed[0], *flags, *settings]
        hydra.main(config_path=str(config_dir), config_name=config_name, version_base="1.3")(job)()
    except Exception as error:
        if started and not isinstance(error, HydraException):
            raise
        _report(error, mistakes)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on, being asked again changes nothing
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        sys.argv = typed
    return MISTAKE if mistakes else 0


def _speak_utf8() -> None:
    """Begin anew in UTF-8 mode where the locale has another encoding: it would garble paths and what is printed."""
    if sys.getfilesystemencoding() != "utf-8":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def readable(argument: str, path_keys: Collection[str], multirun: bool) -> str:
    """Return the command line argument as Hydra's grammar reads it: paths quoted where they need it.

    Raises UserError, naming the argument and how to write it, where a value that is no path cannot be read, or is
    a sweep though none was asked for.
    """
    assignment = _ASSIGNMENT.fullmatch(argument)
    if assignment is None:
        return argument
    key, value = assignment["key"], assignment["value"]
    override = _parse(argument)
    if key.lstrip("+") in path_keys:
        return argument if override and _is_text(override, value, multirun) else f"{key}={_quote_paths(value)}"
    quoted = shlex.quote(f"{key}={_quote(value)}")
    if override is None:
        raise UserError(f"cannot read {argument}: if the value is one piece of text, write {quoted}")
    if override.is_sweep_override() and not multirun:
        raise UserError(
            f"{argument} stands for several values: add -m to run once with each, or write {key}=[{value}] for a list, "
            f"{quoted} for one piece of text"
        )
    return argument


def explain(error: Exception) -> str:
    """Say in one line what is wrong with the composed configuration, with the nearest name that exists."""
    cause = error.__cause__
    if isinstance(error, MissingConfigException) and (known := error.options):
        group, _, choice = str(error.missing_cfg_file).rpartition("/")
        return f"{group}={choice}: no such choice{did_you_mean(choice, known)}; there are {', '.join(known)}"
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override}: settings are written key=value"
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and isinstance(cause.parent_node, DictConfig):
        known = list(_dotted_keys(cause.parent_node._get_root()))
        return f"there is no setting {cause.full_key}{did_you_mean(str(cause.full_key), known)}"
    if unknown := re.match(r"Could not override '(.+?)'", str(error)):
        return f"there is no setting {unknown[1]} here"
    return " ".join(str(error).split())


def _sorted(arguments: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Flags, settings (Hydra wants them last), and whether -m is among the flags; UserError for an unknown flag."""
    found, unknown = get_args_parser().parse_known_intermixed_args(arguments)
    if unknown:
        raise UserError(f"there is no flag {unknown[0]}: settings are written key=value (--help lists them)")
    return [word for word in arguments if word not in found.overrides], found.overrides, found.multirun


def _plain(composed: DictConfig, swept: list[str]) -> dict[str, Any]:
    try:
        config = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise UserError(f"{error.full_key} is needed: add {error.full_key}=...") from error
    except OmegaConfBaseException as error:
        raise UserError(" ".join(str(error).split())) from error
    assert isinstance(config, dict)
    if swept and "variant" in config:
        chosen = [entry for entry in HydraConfig.get().overrides.task if entry.partition("=")[0] in swept]
        config["variant"] = "_".join(re.sub(r"[^\w.]+", "-", entry).strip("-") for entry in chosen)
    return {str(key): value for key, value in config.items()}


def _report(error: Exception, mistakes: list[Exception]) -> None:
    print(f"error: {error if isinstance(error, UserError) else explain(error)}", file=sys.stderr)
    mistakes.append(error)


def _parse(argument: str) -> Override | None:
    try:
        return OverridesParser.create().parse_override(argument)
    except HydraException:
        return None


def _is_text(override: Override, value: str, multirun: bool) -> bool:
    """Whether Hydra reads the value of a path key as what was typed: text, a list of texts, null, a wanted sweep."""
    if override.is_sweep_override():
        return multirun
    read = override.value()
    if isinstance(read, list):
        return all(isinstance(item, str) for item in read)
    return read is None or (isinstance(read, str) and value == value.strip())


def _quote_paths(value: str) -> str:
    if value.startswith("[") and value.endswith("]"):
        return "[" + ",".join(_quote_paths(item.strip()) for item in value[1:-1].split(",")) + "]"
    return _quote(os.path.expanduser(value) if value.startswith("~/") else value)


def _quote(text: str) -> str:
    return QuotedString(text=text, quote=Quote.single).with_quotes()


def _dotted_keys(config: Any, prefix: str = "") -> Iterator[str]:
    for key in config if isinstance(config, DictConfig) else ():
        if (name := f"{prefix}{key!s}") != "hydra":
            yield name
            yield from _dotted_keys(config._get_node(key), f"{name}.")
