"""What heads are worth: figures against finite differences, hiding by hand, and the models without them."""

import copy
import json
import math
from pathlib import Path

import pytest
import torch

from tests import toy
from tests.conftest import toy_model
from translator.alignment.error_rate import alignment_error_rate
from translator.alignment.gold import GoldLinks
from translator.alignment.links import drop_last_column, merge_units
from translator.alignment.reading import Reading
from translator.attention.heads import attentions, closing, gated
from translator.data.parallel import ParallelText
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference.teacher_forcing import pair_log_probs
from translator.inference.translator import Translator, teacher_forcing
from translator.inspection.heads import faithfulness as faithful
from translator.inspection.heads.importance import gate_gradients, importance
from translator.inspection.heads.names import Head, by_site, heads_of
from translator.inspection.heads.report import COLUMNS, most_alike, report
from translator.inspection.heads.statistics import statistics
from translator.inspection.heads.study import Study, load_text
from translator.model.transformer import Transformer

SOURCES = toy.sentences(4, seed=9, longest=6)
TEXT = ParallelText(SOURCES, [toy.expected(line) for line in SOURCES])


@pytest.fixture
def study(toy_tokenizer: Tokenizer) -> Study:
    """In float64, without some heads, so that places and numbers differ."""
    model = toy_model(toy_tokenizer, d_model=12, d_ff=17, n_decoder_layers=3).double().eval()
    model.prune_heads({"encoder.0": [1], "decoder.1": [0, 1, 2, 3], "cross.0": [0, 2]})
    return Study(Translator(model, toy_tokenizer), TEXT)


def test_the_loss_is_the_sum_of_what_scoring_says(study: Study) -> None:
    scores = study.translator.score(TEXT.sources, TEXT.targets)
    pieces = sum(len(study.translator.tokenizer.encode(line)) + 1 for line in TEXT.targets)
    assert study.loss() == pytest.approx(-sum(scores) / pieces, rel=1e-5)  # scores are float32


def test_importance_is_the_slope_of_each_pairs_loss(study: Study) -> None:
    """Against central differences of the loss at gates of 1 + h and 1 - h."""
    found, step = gate_gradients(study), 1e-6
    for site, attention in attentions(study.model).items():
        for place in range(attention.n_heads):
            log_probs = []
            for h in (step, -step):
                gate = torch.ones(attention.n_heads, dtype=torch.float64)
                gate[place] += h
                with torch.no_grad(), gated(study.model, {site: gate}):
                    log_probs.append(torch.cat([pair_log_probs(study.model, batch) for batch in study.batches]))
            slope = ((log_probs[0] - log_probs[1]) / (2 * step)).abs().mean()
            assert float(found[site][place]) == pytest.approx(float(slope), rel=1e-4, abs=1e-7)
    assert all(parameter.grad is None for parameter in study.model.parameters())


def test_importance_is_normalised_within_a_layer(study: Study) -> None:
    weights = importance(study)
    assert list(weights) == heads_of(study.model)
    for site in attentions(study.model):
        squares = [value**2 for head, value in weights.items() if head.site == site]
        assert not squares or sum(squares) == pytest.approx(1.0)
    raw = gate_gradients(study)["cross.0"]
    assert weights[Head("cross", 0, 3)] / weights[Head("cross", 0, 1)] == pytest.approx(float(raw[1] / raw[0]))


def pair(study: Study) -> faithful.Forced:
    encode = study.translator.tokenizer.encode_with_words
    (source, source_words), (target, target_words) = encode("kolu ba <a/> tive, ba"), encode("ME NOTI ZO ME")
    return faithful.Forced(source, source_words, target, target_words)


def word_log_probs(model: Transformer, one: faithful.Forced, valid: list[bool], source: list[int]) -> torch.Tensor:
    """log p of each target word, a sum over its pieces."""
    ids = torch.tensor([[*source, model.config.eos_id]])
    with torch.no_grad():
        logits = model(ids, torch.tensor([[*valid, True]]), torch.tensor([[model.config.bos_id, *one.target[:-1]]]))
    steps = torch.log_softmax(logits[0], dim=-1)[torch.arange(len(one.target)), torch.tensor(one.target)]
    words = torch.zeros(max(one.target_words) + 1, dtype=steps.dtype)
    return words.index_add(0, torch.tensor(one.target_words), steps)


def test_erasing_a_word_hides_it_from_everything(study: Study) -> None:
    one = pair(study)
    assert len(one.source) > max(one.source_words) + 1  # a word of several pieces
    found = faithful.erasure(study.model, one)
    whole = word_log_probs(study.model, one, [True] * len(one.source), one.source)
    for word in range(max(one.source_words) + 1):
        hidden = [owner == word for owner in one.source_words]
        other = [study.model.config.unk_id if hide else index for hide, index in zip(hidden, one.source, strict=True)]
        without = word_log_probs(study.model, one, [not hide for hide in hidden], other)  # what it was is not seen
        torch.testing.assert_close(found[:, word], whole - without, rtol=0, atol=1e-10)


def test_gradient_times_input_is_the_slope_of_a_longer_vector(study: Study) -> None:
    one, step = pair(study), 1e-6
    found = faithful.gradient_times_input(study.model, one)
    for word in range(max(one.source_words) + 1):
        ends = []
        for h in (step, -step):
            factor = torch.tensor([1 + h * (owner == word) for owner in [*one.source_words, -1]], dtype=torch.float64)
            hook = study.model.src_embeddings.register_forward_hook(lambda *a, f=factor: a[2] * f[:, None])
            ends.append(word_log_probs(study.model, one, [True] * len(one.source), one.source))
            hook.remove()
        torch.testing.assert_close(found[:, word], ((ends[0] - ends[1]) / (2 * step)).abs(), rtol=1e-4, atol=1e-7)


def test_weights_between_words_are_those_that_alignments_are_read_from(study: Study) -> None:
    one = pair(study)
    for head, weights in faithful.word_weights(study.model, one).items():
        place = attentions(study.model)[head.site].kept.index(head.number)
        with torch.no_grad():
            (matrix,) = teacher_forcing.cross_attention(
                study.model, [one.source], [one.target], Reading.at(head.layer, [place])
            )
        n_source, n_target = max(one.source_words) + 1, max(one.target_words) + 1
        merged = merge_units(drop_last_column(matrix), one.source_words, one.target_words, n_source, n_target)
        torch.testing.assert_close(weights.float(), merged, rtol=0, atol=1e-6)


def test_the_report_tells_of_every_head(study: Study) -> None:
    text = ParallelText(TEXT.sources[:2], TEXT.targets[:2])  # decoded once a head
    study = Study(study.translator, text)
    links = [{(i, i) for i in range(len(line.split()))} for line in text.sources]
    made = report(study, explained=2, gold=GoldLinks(text.sources, text.targets, links, links))
    assert list(made.figures) == heads_of(study.model)
    assert all(set(of_head) <= {column.key for column in COLUMNS} for of_head in made.figures.values())
    for head in (Head("encoder", 0, 2), Head("cross", 0, 3)):
        without = copy.deepcopy(study.model)
        without.prune_heads(by_site([head]))
        smaller = Study(Translator(without, study.translator.tokenizer), text)
        assert made.figures[head]["loss_change"] == pytest.approx(smaller.loss() - study.loss(), abs=1e-9)
        assert made.figures[head]["bleu_change"] == pytest.approx(smaller.bleu() - study.bleu())
    assert made.figures[Head("decoder", 0, 0)]["next"] == 0.0  # nobody sees what is still to come
    assert {head.kind for head, of_head in made.figures.items() if "erasure" in of_head} == {"cross"}
    found = study.translator.align(text.sources, text.targets, align_layer=0, align_heads=(1,))  # head 3 is the second
    expected = alignment_error_rate([alignment.links for alignment in found], links, links).aer
    assert made.figures[Head("cross", 0, 3)]["aer"] == expected
    assert {head for head, of_head in made.figures.items() if "aer" in of_head} == {
        head for head in made.figures if head.kind == "cross"
    }
    values = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert [entry["head"] for entry in values["heads"]] == [str(head) for head in made.figures]
    assert values["similarity"]["cross.0"]["heads"] == [1, 3]
    matrix = torch.tensor(values["similarity"]["encoder.1"]["matrix"])
    torch.testing.assert_close(matrix.diagonal(), torch.ones(4))
    torch.testing.assert_close(matrix, matrix.t())
    lines = made.lines()
    assert sum(line.startswith(("enc.", "dec.")) for line in lines) == len(made.figures)
    assert any("not an explanation" in line for line in lines)
    assert made.faithful.words > 3


def test_a_uniform_head_has_the_entropy_of_its_row_and_looks_like_its_twin(study: Study) -> None:
    attention = attentions(study.model)["encoder.1"]
    with torch.no_grad():
        attention.q_proj.weight[:6] = 0.0  # heads 0 and 1 of 3 numbers each
        attention.q_proj.bias[:6] = 0.0
    first = Study(study.translator, ParallelText(TEXT.sources[:1], TEXT.targets[:1]))
    figures, similar = statistics(first)
    alike = most_alike(first, similar)
    pieces = len(study.translator.tokenizer.encode(TEXT.sources[0])) + 1
    for number in (0, 1):
        head = Head("encoder", 1, number)
        found = figures[head]
        assert (found["entropy"], alike[head]["most_alike"]) == pytest.approx((math.log(pieces), 1.0))
        assert (found["same"], found["ends"]) == pytest.approx((1 / pieces, 1 / pieces))


def test_closing_leaves_numbers_and_places_apart(study: Study) -> None:
    assert closing(study.model, {"cross.0": [3]})["cross.0"].tolist() == [1.0, 0.0]


def test_pairs_come_from_files_or_from_what_the_bundle_remembers(tmp_path: Path) -> None:
    for name, lines in (("a", ["x", " ", "y", "z"]), ("b", ["X", "W", "", "Z"])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    files = [str(tmp_path / "a"), str(tmp_path / "b")]
    assert load_text({}, tmp_path, files, "valid", 9) == ParallelText(["x", "z"], ["X", "Z"])
    remembered = {"source": "aa", "target": "bb", "data": {"kind": "files", "valid": files}}
    assert load_text(remembered, tmp_path, None, "valid", 1) == ParallelText(["x"], ["X"])
    for config, limit, message in (
        (remembered | {"data": {"kind": "files"}}, 9, "no valid part.*; or name files by --data SOURCE TARGET"),
        ({}, 9, "does not say what it was trained on: name files by --data"),
        (remembered, 0, "limit must be at least 1, not 0"),
    ):
        with pytest.raises(UserError, match=message):
            load_text(config, tmp_path, None, "valid", limit)
