"""The table of alignment error rates, as a function and as a command."""

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from tests import toy
from tests.inspection.known import KnownModel
from tests.inspection.test_inspect_checkpoint import script  # noqa: F401 -- a fixture
from translator.alignment.gold import GoldLinks, agreed_links
from translator.alignment.reading import Reading
from translator.alignment.statistical import align_both_ways
from translator.bundle import read_config, store_in_config
from translator.data.parallel import ParallelText
from translator.data.tokenizer import Tokenizer
from translator.inference.translator import Translator
from translator.inspection.alignment_table import measure_alignments

LINES = toy.sentences(7, seed=5)
DIAGONAL = [{(i, i) for i in range(len(line.split()))} for line in LINES]


def test_the_best_reading_of_a_known_model_is_found(toy_tokenizer: Tokenizer) -> None:
    translator = Translator(KnownModel(toy_tokenizer), toy_tokenizer)

    table = measure_alignments(translator, GoldLinks(LINES, LINES, DIAGONAL, DIAGONAL))

    assert table.best == Reading.at(0, (0,), "output")
    assert table.readings[table.best]["aer"] == 0.0
    assert table.readings[Reading.at(1, (0,), "input")]["aer"] == 0.0
    assert table.readings[Reading.at(1, (0,), "output")]["aer"] > 0.1
    assert table.others["plain diagonal"]["aer"] == 0.0
    assert list(table.others) == [
        "default (layers 0+1, mean of heads 0, 1, output step)",
        "plain diagonal",
        "statistical aligner",
        "statistical aligner, grow-diag",
    ]


def test_two_directions_are_made_one(toy_tokenizer: Tokenizer) -> None:
    """The reverse model reads one step too early, so its links are those of the forward one shifted the other way."""
    tokenizer = toy_tokenizer
    forward = Translator(KnownModel(tokenizer), tokenizer, Reading.at(0, (0,), "output"))
    backward = Translator(KnownModel(tokenizer), tokenizer, Reading.at(1, (1,), "output"))
    gold = GoldLinks(LINES, LINES, DIAGONAL, DIAGONAL)

    others = measure_alignments(forward, gold, reverse=backward).others

    words = sum(map(len, DIAGONAL))
    assert others["default (layer 0, head 0, output step)"]["aer"] == 0.0
    # All words of a sentence go to its last: one link of each is right.
    assert others["reverse model"]["precision"] == pytest.approx(len(LINES) / words)
    assert others["both, intersection"] == {
        "aer": pytest.approx(1 - 2 * len(LINES) / (len(LINES) + words)),
        "precision": 1.0,
        "recall": pytest.approx(len(LINES) / words),
    }
    assert others["both, union"]["recall"] == 1.0
    assert others["both, union"]["precision"] == pytest.approx(words / (2 * words - len(LINES)))
    assert "both, grow-diag" in others
    one = measure_alignments(forward, gold, reverse=backward, method="union").others
    assert [name for name in one if name.startswith("both")] == ["both, union"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Flags that name a source, a target and their gold links."""
    links = [" ".join(f"{s}-{t}" for s, t in sorted(of_pair)) for of_pair in DIAGONAL]
    texts = {"source": LINES, "target": [toy.expected(line) for line in LINES], "gold": links}
    flags = []
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        flags += [f"--{name}", str(tmp_path / name)]
    return flags


def run(script: ModuleType, capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:  # noqa: F811
    status = script.main([str(argument) for argument in arguments])
    return (status, *capfd.readouterr())


def test_the_command_writes_a_table_and_json(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    files: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, out, err = run(script, capfd, flat_bundle, "aer", *files, "--json", tmp_path / "a.json")

    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("7 pairs, ")
    assert [line.split()[0] for line in lines[5:16]] == [*"0000111101", "0-1"]
    assert lines[-1].startswith("best: layer ")
    values = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert len(values["readings"]) == 22
    best = min(values["readings"], key=lambda row: row["aer"])
    assert values["best"] == best
    assert set(best) == {"layer", "heads", "step", "aer", "precision", "recall"}
    status, again, _ = run(script, capfd, flat_bundle, "aer", *files, "--json", "-")
    assert status == 0
    assert json.loads(again) == values
    for line in lines[5:16]:
        assert len(line) == len(lines[5])


def test_the_best_is_stored_and_used_and_nothing_else_changes(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    files: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(flat_bundle, bundle)
    before = read_config(bundle)

    status, out, err = run(script, capfd, bundle, "aer", *files, "--store-best", "--json", "-")

    assert status == 0
    assert "now reads alignments from layer" in err
    best = json.loads(out)["best"]
    place = {key: best[key] for key in ("layer", "heads", "step")}
    assert read_config(bundle) == before | {"alignment": place}
    assert sorted(path.name for path in bundle.iterdir()) == sorted(path.name for path in flat_bundle.iterdir())
    translator = Translator.load(bundle)
    assert translator.reading == Reading.from_config(place)
    assert translator.align(LINES[:1], LINES[:1]) == translator.align(LINES[:1], LINES[:1], align_heads="best")
    status, out, _ = run(script, capfd, bundle, "aer", *files, "--json", "-")
    others = {row.pop("name"): row for row in json.loads(out)["others"]}
    (default,) = (rates for name, rates in others.items() if name.startswith("default"))
    assert default == {key: best[key] for key in ("aer", "precision", "recall")}


def test_a_checkpoint_of_the_other_direction_joins_in(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    files: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    back = tmp_path / "back"
    shutil.copytree(flat_bundle, back)
    status, out, err = run(script, capfd, flat_bundle, "aer", *files, "--reverse", back)
    assert (status, out) == (2, "")
    assert "back translates aa to bb; needed is bb to aa" in err
    store_in_config(back, source="bb", target="aa")

    status, out, err = run(script, capfd, flat_bundle, "aer", *files, "--reverse", back, "--symmetrize", "grow-diag")

    assert (status, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines() if line.startswith(("both", "reverse"))] == [
        "reverse model", "both, grow-diag",
    ]  # fmt: skip


def test_known_words_are_pointed_at(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    files: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    word = LINES[0].split()[0]
    row = ["0", word, "0", toy.expected(word), "0"]
    (tmp_path / "words.tsv").write_text("a\tb\tc\td\te\n" + "\t".join(row) + "\n", encoding="utf-8")

    status, out, _ = run(script, capfd, flat_bundle, "aer", *files[:4], "--links", tmp_path / "words.tsv")

    assert status == 0
    assert out.startswith("7 pairs, 1 known word pairs, 0 not found in the lines\nknown target words")
    diagonal = next(line for line in out.splitlines() if line.startswith("plain diagonal"))
    assert diagonal.split()[-1] == "100.0"


def test_a_reading_is_chosen_by_agreement_and_judged_on_known_words(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    files: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The statistical aligner is the gold, so that it is no row beside it."""
    bundle = shutil.copytree(flat_bundle, tmp_path / "bundle")

    status, out, err = run(script, capfd, bundle, "aer", *files[:4], "--agreement", "--store-best", "--json", "-")

    assert (status, "now reads alignments from layer" in err) == (0, True)
    found = json.loads(out)
    sure = agreed_links(LINES, [toy.expected(line) for line in LINES], ParallelText([], []))
    assert found["title"] == sure.describe()
    assert [row["name"] for row in found["others"]][1:] == ["plain diagonal"]
    stored = read_config(bundle)["alignment"]
    assert found["best"].items() >= stored.items()
    assert min(row["aer"] for row in found["readings"]) == found["best"]["aer"]


def test_sure_is_what_both_directions_of_the_aligner_say() -> None:
    """Two source words for one target word: only one of them is chosen by it, but both choose it."""
    sources, targets = ["a b", "b", "b"], ["x", "x", "x"]
    more = ParallelText(["a c", "c"], ["y", "y"])
    forward, backward = align_both_ways(sources, targets, (more.sources, more.targets))

    gold = agreed_links(sources, targets, more)

    assert forward == [[(1, 0)], [(0, 0)], [(0, 0)]]
    assert backward == [[(0, 0), (1, 0)], [(0, 0)], [(0, 0)]]
    assert gold.sure == [{(1, 0)}, {(0, 0)}, {(0, 0)}]
    assert gold.possible == [{(0, 0), (1, 0)}, {(0, 0)}, {(0, 0)}]


POCKET = {"kind": "pocket", "source": "en", "target": "de", "train_size": 9, "valid_size": 5, "test_size": 4, "seed": 7}


def test_pocket_needs_no_files(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(flat_bundle, bundle)
    store_in_config(bundle, data=POCKET)

    status, out, _ = run(script, capfd, bundle, "aer", "--data", "pocket", "--store-best")
    assert status == 0
    assert out.startswith("5 pairs, ")
    status, out, _ = run(script, capfd, bundle, "aer", "--data", "pocket", "--split", "test")
    assert status == 0
    assert out.startswith("4 pairs, ")
    status, _, err = run(script, capfd, bundle, "aer", "--data", "pocket", "--split", "test", "--store-best")
    assert status == 2
    assert "the best reading is chosen on validation pairs" in err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "one of the arguments --gold --links --agreement --data is required"),
        (["--gold", "g"], "add --source F and --target F"),
        (["--agreement", "--source", "s"], "add --source F and --target F"),
        (["--data", "pocket", "--source", "s"], "--data brings its own pairs and links"),
        (["--gold", "g", "--source", "s", "--target", "t", "--split", "test"], "--split is a part of --data"),
        (["--data", "pocket", "--symmetrize", "union"], "--symmetrize needs the links of two models"),
        (["--data", "pocket", "--symmetrize", "onion"], "must be one of intersection, union, grow-diag"),
        (["--data", "pocket"], "this checkpoint was not trained on pocket"),
        (["--gold", "g", "--source", "nowhere", "--target", "t"], "cannot read nowhere"),
    ],
)
def test_mistakes_are_one_line(
    script: ModuleType,  # noqa: F811
    flat_bundle: Path,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    expected: str,
) -> None:
    status, out, err = run(script, capfd, flat_bundle, "aer", *arguments)
    assert (status, out) == (2, "")
    assert expected in err
    assert err.count("\n") == 1
