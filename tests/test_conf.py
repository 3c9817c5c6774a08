"""Every configuration composes, builds what it describes, and explains each of its keys."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.training.runs import CONF, composed
from translator.inference.options import TranslateOptions
from translator.model.config import ModelConfig
from translator.training.config import TrainingConfig, attention_site, check_numbers, run_name

FILES = sorted(path.relative_to(CONF) for path in CONF.rglob("*.yaml"))
NOT_FOR_TRAINING = Path("data/bundle.yaml")
GROUPS = [
    file for file in FILES if len(file.parts) == 2 and file.parts[0] not in ("debug", "experiment", "hydra", "recipe")
]
NEEDED = {"data/hub": ("data.path=someone/set",)}
SITES = ("encoder", "decoder", "cross")
KINDS = ("mha", "gqa", "mqa", "window")


def build(settings: dict[str, Any]) -> tuple[TrainingConfig, ModelConfig]:
    """Everything that training makes of its settings before it reads data."""
    check_numbers(settings["attention"])
    sites = {f"{site}_attention": attention_site(settings["attention"], site) for site in SITES}
    TranslateOptions.from_keywords(settings["decode"])
    TranslateOptions.from_keywords(settings["decode"] | settings["validation"])
    assert run_name(settings)
    model = ModelConfig.from_dict({**settings["model"], **sites, "vocab_size": 101})
    return TrainingConfig.from_dict(settings), model


@pytest.mark.parametrize("file", [file for file in GROUPS if file != NOT_FOR_TRAINING], ids=str)
def test_every_choice_composes_and_builds(file: Path) -> None:
    group, choice = file.parts[0], file.stem
    settings = composed(f"{group}={choice}", *NEEDED.get(f"{group}/{choice}", ()))
    build(settings)
    written = yaml.safe_load((CONF / file).read_text(encoding="utf-8"))
    assert settings[group].keys() == written.keys()


@pytest.mark.parametrize("choice", ["none", "fast", "overfit"])
def test_debugging_changes_what_it_says(choice: str) -> None:
    training, model = build(composed("data=pocket", f"debug={choice}"))
    assert (training.trainer.max_updates is None) == (choice == "none")
    if choice == "overfit":
        assert (model.dropout, training.label_smoothing, training.trainer.ema_decay) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("choice", ["attention_study", "head_study"])
def test_experiments_compose_and_leave_room_for_what_is_compared(choice: str) -> None:
    settings = composed(f"experiment={choice}", "attention=gqa", "model.n_heads=8")
    model = build(settings)[1]
    assert (settings["data"]["kind"], settings["name"], model.n_heads) == ("pocket", choice, 8)
    assert model.cross_attention.n_kv_heads == 2
    assert settings["tokenizer"]["vocab_size"] == 1200  # the corpus's recipe holds


def test_variants_of_the_attention_study_differ_in_their_kind_alone() -> None:
    models = {kind: build(composed("experiment=attention_study", f"attention={kind}"))[1] for kind in KINDS}
    sites = {
        kind: (model.decoder_attention.n_kv_heads, model.decoder_attention.window) for kind, model in models.items()
    }
    assert sites == {"mha": (None, None), "gqa": (2, None), "mqa": (1, None), "window": (None, 4)}
    typed = composed("experiment=attention_study", "attention=window", "attention.window=6")
    assert build(typed)[1].decoder_attention.window == 6


@pytest.mark.parametrize("group", sorted({file.parts[0] for file in GROUPS} - {"data"}))
def test_the_choices_of_a_group_have_the_same_keys(group: str) -> None:
    keys = {file: frozenset(yaml.safe_load((CONF / file).read_text(encoding="utf-8"))) for file in GROUPS}
    assert len({keys[file] for file in GROUPS if file.parts[0] == group}) == 1


def test_a_corpus_brings_its_recipe_and_what_is_typed_stands_above_it() -> None:
    recipe = yaml.safe_load((CONF / "recipe/pocket.yaml").read_text(encoding="utf-8"))
    plain, pocket = composed(), composed("data=pocket")
    for group, values in recipe.items():
        for key, value in values.items():
            assert pocket[group][key] == value
            assert plain[group][key] != value
    typed = composed("data=pocket", "tokenizer.vocab_size=907", "trainer.max_epochs=5", "model=small")
    assert (typed["tokenizer"]["vocab_size"], typed["trainer"]["max_epochs"]) == (907, 5)
    assert typed["model"]["dropout"] == recipe["model"]["dropout"]
    assert typed["model"]["d_model"] == composed("model=small")["model"]["d_model"]


def test_validation_departs_from_the_search_of_the_end() -> None:
    settings = composed("decode.beam_size=7", "decode.length_penalty=0.5")
    search = settings["decode"] | settings["validation"]
    assert (search["beam_size"], search["length_penalty"]) == (1, 0.5)


def test_no_run_writes_a_folder_of_its_own_accord() -> None:
    for name in ("config", "evaluate"):
        hydra = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))["hydra"]
        assert hydra["run"]["dir"] == "."
        assert hydra["output_subdir"] is None


def undocumented(text: str) -> list[str]:
    """Lines ``key: value`` with neither a comment of their own nor one on the line above.

    A group's defaults and a section that only holds further keys explain themselves.
    """
    lines, found = text.splitlines(), []
    for line in lines:
        entry = re.fullmatch(r"\s*[\w?]+:\s+([^\s#|>].*)", line)
        if entry and not re.search(r"\s#\s*\S", line):
            found.append(line.strip())
    return found


@pytest.mark.parametrize("file", [file for file in FILES if file.parts[0] != "hydra"], ids=str)
def test_every_key_is_explained(file: Path) -> None:
    text = (CONF / file).read_text(encoding="utf-8")
    assert text.startswith("#")
    explained = set()
    for other in FILES:
        if other.parts[0] != "hydra":
            explained |= set(re.findall(r"^\s*(\w+):.*\s#\s*\S", (CONF / other).read_text(encoding="utf-8"), re.M))
    bare = [line for line in undocumented(text) if not _is_plumbing(line)]
    if file.parts[0] in (
        "recipe",
        "debug",
        "experiment",
    ):  # they give other values to keys that are explained where they belong
        bare = [line for line in bare if line.partition(":")[0] not in explained]
    assert bare == []


def _is_plumbing(line: str) -> bool:
    """What configures Hydra, not a run."""
    return line in ("subdir: .", "output_subdir: null")


def test_a_bare_key_is_noticed() -> None:
    assert undocumented("a: 1 # one\nb: 2\nc:\n  d: x#y\n  e: z # last\n") == ["b: 2", "d: x#y"]
