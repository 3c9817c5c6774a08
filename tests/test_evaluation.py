"""Scores equal what the sacrebleu command prints, and lines that do not belong together are never scored."""

import json
import logging
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from translator.errors import UserError
from translator.evaluation import Scores, evaluate, measure

HYPOTHESES = [
    "the small dog runs over the green grass",
    "A tired man sleeps on the floor.",
    "Two cats sat on a mat",
]
FIRST = [
    "the small dog runs over the green grass",
    "A man, tired and cold, sleeps.",
    "two cats sit on a mat today",
]
SECOND = [
    "a little dog runs across the green grass",
    "A tired man is asleep on the floor.",
    "there are two cats",
]


def assert_equal_to_command(folder: Path, scores: Scores, hypotheses: list[str], *reference_sets: list[str]) -> None:
    """Compare score (to 2 decimals) and signature of each metric with what the sacrebleu command gives."""
    paths = [folder / f"{number}.txt" for number in range(1 + len(reference_sets))]
    for path, lines in zip(paths, (hypotheses, *reference_sets), strict=True):
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    command = [sys.executable, "-m", "sacrebleu", *map(str, paths[1:]), "-i", str(paths[0]), "-w", "4"]
    for keys, options in ((("bleu", "chrf", "ter"), []), (("bleu_lowercased",), ["-lc"])):
        metrics = ["-m", *[key.partition("_")[0] for key in keys]]
        printed = json.loads(subprocess.run([*command, *metrics, *options], check=True, capture_output=True).stdout)
        for key, found in zip(keys, printed if isinstance(printed, list) else [printed], strict=True):
            assert getattr(scores, key) == pytest.approx(found["score"], abs=0.005), key
            assert scores.signature[key] == f"{found['name']}|{found['signature']}"


def test_one_reference_set_equals_the_sacrebleu_command(tmp_path: Path) -> None:
    scores = evaluate(HYPOTHESES, FIRST)
    assert_equal_to_command(tmp_path, scores, HYPOTHESES, FIRST)
    assert scores.bleu_lowercased != pytest.approx(scores.bleu, abs=0.1)
    assert (scores.sentences, scores.references) == (3, 1)


def test_two_reference_sets_are_whole_sets_and_equal_the_sacrebleu_command(tmp_path: Path) -> None:
    scores = evaluate(HYPOTHESES, [FIRST, SECOND])
    assert_equal_to_command(tmp_path, scores, HYPOTHESES, FIRST, SECOND)
    assert (scores.sentences, scores.references) == (3, 2)
    assert all("nrefs:2" in signature for signature in scores.signature.values())


def test_only_the_first_line_being_right_is_no_full_score() -> None:
    hypotheses = [FIRST[0], "wholly different words stand here", "and nothing of this fits either"]
    assert evaluate(hypotheses, FIRST).bleu < 60
    assert evaluate(hypotheses, [FIRST]).bleu == evaluate(hypotheses, FIRST).bleu


def test_empty_lines_are_kept_and_counted(tmp_path: Path) -> None:
    hypotheses = [f"the dog number {n} runs over the grass" for n in range(10)]
    references = [f"the dog number {n} walks over the grass" for n in range(10)]
    hypotheses[2] = references[4] = ""
    scores = evaluate(hypotheses, references)
    assert_equal_to_command(tmp_path, scores, hypotheses, references)
    assert (scores.empty_hypotheses, scores.empty_references, scores.sentences) == (1, 1, 10)


def test_only_empty_translations_score_zero() -> None:
    scores = evaluate(["", "", ""], FIRST)
    assert (scores.bleu, scores.bleu_lowercased, scores.chrf) == (0.0, 0.0, 0.0)
    assert scores.empty_hypotheses == 3


@pytest.mark.parametrize(("hypotheses", "references"), [(3, 2), (2, 3)])
def test_different_lengths_are_refused_with_both_counts(hypotheses: int, references: int) -> None:
    with pytest.raises(UserError, match=rf"^{hypotheses} translations but {references} lines in the reference"):
        evaluate(HYPOTHESES[:hypotheses], FIRST[:references])


def test_the_second_reference_set_is_counted_too() -> None:
    with pytest.raises(UserError, match=r"3 translations but 2 lines in reference set 2"):
        evaluate(HYPOTHESES, [FIRST, SECOND[:2]])


def test_nothing_to_score_is_refused() -> None:
    with pytest.raises(UserError, match="nothing to score"):
        evaluate([], [])


def test_tokenised_text_is_warned_of_on_stderr() -> None:
    program = "from translator.evaluation import evaluate; lines = ['it runs .'] * 100; evaluate(lines, lines)"
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert "forgot to detokenize" in result.stderr
    assert result.stderr.count("forgot to detokenize") == 1
    assert result.stdout == ""


@pytest.mark.parametrize("piece", ["▁the ▁dog s", "the do@@ gs"])
def test_subword_pieces_are_warned_of(piece: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        evaluate([*HYPOTHESES, piece], [*FIRST, piece])
    assert "1 of 4 translations hold subword marks" in caplog.text


def test_plain_text_gives_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    evaluate(HYPOTHESES, FIRST)
    assert caplog.text == ""


def test_scores_become_a_json_object() -> None:
    values = evaluate(HYPOTHESES, FIRST).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert {"bleu", "bleu_lowercased", "chrf", "ter", "signature", "sentences"} <= values.keys()
    assert values["signature"].keys() == {"bleu", "bleu_lowercased", "chrf", "ter"}
    assert "case:lc" in values["signature"]["bleu_lowercased"]
    assert "case:mixed" in values["signature"]["bleu"]


def test_measuring_translates_once_and_adds_speed_to_the_scores() -> None:
    calls = []

    def translate(lines: Sequence[str]) -> list[str]:
        calls.append(list(lines))
        time.sleep(0.01)
        return HYPOTHESES

    hypotheses, metrics = measure(translate, ["a", "b", "c"], FIRST)
    assert (hypotheses, calls) == (HYPOTHESES, [["a", "b", "c"]])
    assert all(metrics[key] == value for key, value in evaluate(HYPOTHESES, FIRST).to_dict().items())
    assert metrics["seconds"] >= 0.01
    assert metrics["sentences_per_second"] == pytest.approx(3 / metrics["seconds"])
