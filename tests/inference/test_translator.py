"""Text in, text out."""

import logging
import random
from difflib import SequenceMatcher
from pathlib import Path

import pytest
import torch

from tests import toy
from tests.conftest import toy_model
from translator.data.tokenizer import Tokenizer
from translator.errors import UserError
from translator.inference import teacher_forcing
from translator.inference.translator import Translation, Translator

PROBE = toy.sentences(31, seed=21)


def texts(translations: list[Translation]) -> list[str]:
    return [t.text for t in translations]


@pytest.mark.parametrize("beam_size", [1, 5])
def test_what_was_learned_is_translated_in_the_order_of_the_lines(toy_translator: Translator, beam_size: int) -> None:
    lines = [*PROBE, PROBE[0], PROBE[3]]
    random.Random(2).shuffle(lines)

    found = toy_translator.translate(lines, beam_size=beam_size)

    right = sum(t.text == toy.expected(line) for t, line in zip(found, lines, strict=True))
    assert right >= 0.9 * len(lines)


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("batch_tokens", [1, 61, 509])
def test_batches_change_nothing(flat_translator: Translator, beam_size: int, batch_tokens: int) -> None:
    lines = [*PROBE[:13], PROBE[5], "su " * 23]

    whole = flat_translator.translate(lines, beam_size=beam_size, max_length_ratio=1.0)
    cut = flat_translator.translate(lines, beam_size=beam_size, max_length_ratio=1.0, batch_tokens=batch_tokens)

    assert texts(cut) == texts(whole)
    assert [t.score for t in cut] == pytest.approx([t.score for t in whole], abs=1e-4)


def test_blank_lines_stay_blank_and_never_reach_the_model(
    toy_translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = toy_translator.translate(["su", "lu"])
    found = toy_translator.translate(["su", "", " ", "\t", "\u00a0", "\u3000", "lu"], alignments="hard")

    assert texts(found) == [alone[0].text, "", "", "", "", "", alone[1].text]
    assert found[1].alignment == []
    assert found[1].score == 0.0

    def no_call(*_: object) -> None:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(toy_translator.model, "start", no_call)
    assert texts(toy_translator.translate(["", "\u3000"], n_best=2)) == ["", ""]
    assert toy_translator.translate([]) == []


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_scores_are_those_of_forced_scoring(toy_translator: Translator, beam_size: int, alpha: float) -> None:
    lines = PROBE[:17]
    found = toy_translator.translate(lines, beam_size=beam_size, length_penalty=alpha, batch_tokens=211)
    tokenizer = toy_translator.tokenizer
    kept = [
        (line, t)
        for line, t in zip(lines, found, strict=True)
        if t.finished and tokenizer.pieces(tokenizer.encode(t.text)) == t.tokens
    ]
    assert len(kept) >= 15

    totals = toy_translator.score([line for line, _ in kept], [t.text for _, t in kept])

    forced_scores = [total / (len(t.tokens) + 1) ** alpha for total, (_, t) in zip(totals, kept, strict=True)]
    assert [t.score for _, t in kept] == pytest.approx(forced_scores, abs=1e-4)


def test_probabilities_of_all_outputs_of_one_step_sum_to_one_but_for_the_unknown(
    flat_translator: Translator,
) -> None:
    size, unknown = flat_translator.tokenizer.vocab_size, flat_translator.tokenizer.unk_id
    (found,) = flat_translator.translate(["su lu"], beam_size=size, n_best=size, max_length=1, length_penalty=0.0)

    source = flat_translator.tokenizer.encode("su lu")
    (log_unknown,) = forced_first_step(flat_translator, source, [unknown])
    total = sum(torch.tensor(entry.score).exp().item() for entry in found.n_best)
    assert total + log_unknown.exp().item() == pytest.approx(1.0, abs=1e-4)
    assert len(found.n_best) == size - 3  # neither padding, begin of sentence nor unknown


def forced_first_step(translator: Translator, source: list[int], wanted: list[int]) -> torch.Tensor:
    """Log-probabilities of the first output piece."""
    config = translator.model.config
    ids = torch.tensor([[*source, config.eos_id]])
    with torch.no_grad():
        logits = translator.model(ids, ids >= 0, torch.tensor([[config.bos_id]]))
    return torch.log_softmax(logits[0, 0], dim=-1)[wanted]


def test_candidates_differ_and_are_ranked(flat_translator: Translator) -> None:
    for found in flat_translator.translate(PROBE[:7], beam_size=7, n_best=7, max_length=5):
        assert len(found.n_best) == 7
        assert len({(*entry.tokens, entry.finished) for entry in found.n_best}) == 7
        scores = [entry.score for entry in found.n_best]
        assert scores == sorted(scores, reverse=True)
        assert (found.text, found.score) == (found.n_best[0].text, scores[0])


@pytest.mark.parametrize("max_length", [1, 3])
def test_cut_translations_are_kept_marked_and_counted(
    flat_translator: Translator, max_length: int, caplog: pytest.LogCaptureFixture
) -> None:
    found = flat_translator.translate(PROBE[:7], beam_size=4, n_best=4, max_length=max_length)

    assert [len(t.n_best) for t in found] == [4] * 7
    assert all(len(e.tokens) + e.finished <= max_length for t in found for e in t.n_best)
    cut = sum(not t.finished for t in found)
    assert cut > 0
    assert f"{cut} of 7 translations were cut at the length limit" in caplog.text


def test_output_is_bounded_by_the_source(flat_translator: Translator) -> None:
    lines = ["su", "SU", "?!?!?!", "su " * 8, "zono, " * 30]

    for line, found in zip(lines, flat_translator.translate(lines, beam_size=1), strict=True):
        assert len(found.tokens) <= 2 * len(flat_translator.tokenizer.encode(line)) + 10


def test_a_long_line_leaves_its_neighbours_alone(toy_translator: Translator) -> None:
    lines = [PROBE[0], " ".join(PROBE[:9]), PROBE[1]]
    alone = texts(toy_translator.translate([PROBE[0], PROBE[1]]))

    found = toy_translator.translate(lines, max_input_length=11, batch_tokens=101)

    assert [found[0].text, found[2].text] == alone
    alike = SequenceMatcher(None, found[1].text.split(), toy.expected(lines[1]).split(), autojunk=False)
    assert alike.ratio() >= 0.9


def test_links_and_tokens_of_a_split_line_run_through(toy_translator: Translator) -> None:
    line = " ".join(PROBE[:7])
    found = toy_translator.translate([line], max_input_length=11, alignments="hard")[0]
    pieces = toy_translator.translate([line], max_input_length=11, alignments="hard", subwords=True)[0]

    assert found.alignment is not None
    assert pieces.alignment is not None
    sources, targets = line.split(), found.text.split()
    assert sum(toy.expected(sources[s]) == targets[t] for s, t in found.alignment) >= 0.8 * len(sources)
    assert sorted({t for _, t in found.alignment}) == list(range(len(found.text.split())))
    assert [t for _, t in pieces.alignment] == list(range(len(pieces.tokens)))
    assert max(s for s, _ in pieces.alignment) == len(toy_translator.tokenizer.encode(line)) - 1
    assert found.weights is not None
    assert len(found.weights) == len(found.alignment)


def test_candidates_of_a_split_line_are_ranked(flat_translator: Translator) -> None:
    (found,) = flat_translator.translate([" ".join(PROBE[:3])], max_input_length=11, n_best=3, max_length=4)

    scores = [entry.score for entry in found.n_best]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_the_score_of_a_split_line_is_the_mean_over_its_parts(flat_translator: Translator) -> None:
    first, second = flat_translator.translate(["koko " * 7, "koko " * 3], beam_size=2, max_length=4)
    (both,) = flat_translator.translate(["koko " * 10], max_input_length=7, beam_size=2, max_length=4)

    assert both.text == f"{first.text} {second.text}"
    assert both.score == pytest.approx((first.score + second.score) / 2, abs=1e-4)


def test_learned_positions_set_the_limits(toy_tokenizer: Tokenizer, caplog: pytest.LogCaptureFixture) -> None:
    translator = Translator(toy_model(toy_tokenizer, positions="learned", max_positions=19), toy_tokenizer)
    assert len(toy_tokenizer.encode("koko")) == 1

    fits, longer = translator.translate(["koko " * 18, "koko " * 19], beam_size=2)
    assert "line 2: 19 pieces where 18 are allowed" in caplog.text
    assert "line 1" not in caplog.text
    assert len(fits.tokens) <= 19
    assert len(longer.tokens) <= 19 + 12
    with pytest.raises(UserError, match=r"max_input_length \(19\) is more than the model's positions allow \(18\)"):
        translator.translate(["su"], max_input_length=19)
    with pytest.raises(UserError, match="target line 2 has 19 pieces; the model takes 18"):
        translator.score(["su", "su"], ["su", "koko " * 19])


def test_an_endless_word_stays_within_the_budget(flat_translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[torch.Size] = []
    start = flat_translator.model.start

    def watched(source: torch.Tensor, valid: torch.Tensor) -> object:
        shapes.append(source.shape)
        return start(source, valid)

    monkeypatch.setattr(flat_translator.model, "start", watched)
    lines = ["su", "a" * 100_000, "\U0001f680" * 3000, "lu"]

    found = flat_translator.translate(lines, beam_size=1, max_length=3, batch_tokens=600)

    assert len(found) == 4
    assert all(rows * length <= 600 for rows, length in shapes)
    assert sum(rows * length for rows, length in shapes) < 4000


def test_over_long_is_an_error_where_asked(flat_translator: Translator) -> None:
    with pytest.raises(UserError, match="line 2: 30 pieces where 7 are allowed"):
        flat_translator.translate(["su", "koko " * 30], max_input_length=7, on_long="error")


def test_dropout_is_off_while_translating_and_back_afterwards(toy_tokenizer: Tokenizer) -> None:
    model = toy_model(toy_tokenizer, dropout=0.3).train()
    translator = Translator(model, toy_tokenizer)

    runs = [translator.translate(PROBE[:5], beam_size=2, max_length=7) for _ in range(3)]

    assert runs[0] == runs[1] == runs[2]
    assert model.training
    assert all(module.training for module in model.modules())
    translator.model.eval()
    translator.score(["su"], ["lu"])
    assert not model.training


def test_samples_depend_on_the_seed_and_the_line_alone(flat_translator: Translator) -> None:
    lines = [PROBE[0], PROBE[1], PROBE[0], PROBE[2]]
    options = {"sample": True, "top_k": 20, "temperature": 1.3, "max_length": 7}

    first = flat_translator.translate(lines, seed=5, **options)

    assert texts(flat_translator.translate(lines, seed=5, batch_tokens=1, **options)) == texts(first)
    assert texts(flat_translator.translate(lines, seed=6, **options)) != texts(first)
    assert first[0].text != first[2].text


def test_wider_search_finds_what_the_model_likes_better(toy_translator: Translator) -> None:
    greedy = toy_translator.translate(PROBE, beam_size=1, length_penalty=0.0)
    wide = toy_translator.translate(PROBE, beam_size=8, length_penalty=0.0)

    better = sum(w.score >= g.score - 1e-4 for w, g in zip(wide, greedy, strict=True))
    assert better >= 0.95 * len(PROBE)


def test_names_of_control_symbols_are_plain_text(toy_translator: Translator) -> None:
    (before,) = texts(toy_translator.translate(["zono"]))
    after = texts(toy_translator.translate([f"zono </s> {word}" for word in ("waba", "kozo", "lurati", "mesu")]))

    assert before not in after
    assert len(set(after)) == 4
    assert all(texts(toy_translator.translate(["</s>", "<s>", "<pad> <pad> su", "<unk> lu"])))


def test_unknown_characters_leave_no_marks(toy_translator: Translator) -> None:
    for found in toy_translator.translate(["su \U0001f680 lu", "\U0001f680", "漢字", "su ⁇ lu"]):
        assert not any(mark in found.text for mark in ("⁇", "<unk>", "  ", "▁"))


def test_a_line_of_unknown_characters_alone_gives_nothing_made_up(toy_translator: Translator) -> None:
    found = toy_translator.translate(["🚀", "su", " 🚀 漢字 ", "su 🚀"], alignments="hard")

    assert [bool(t.text) for t in found] == [False, True, False, True]
    assert found[0].alignment == []


def test_every_kind_of_white_space_is_a_space(toy_translator: Translator) -> None:
    kinds = [
        "su lu",
        "su\tlu",
        "su\u00a0lu",
        "su\x0blu",
        "su\x0clu",
        "su\u0085lu",
        "su\u2028lu",
        "  su   lu ",
        "su\rlu",
    ]

    assert len(set(texts(toy_translator.translate(kinds)))) == 1


def test_low_precision_keeps_scores_finite_and_text_mostly(toy_bundle: Path) -> None:
    exact, low = (Translator.load(toy_bundle, device="cpu", precision=p) for p in ("float32", "bf16"))

    expected, found = exact.translate(PROBE), low.translate(PROBE)

    assert all(torch.tensor(t.score).isfinite() for t in found)
    same = sum(a == b for a, b in zip(texts(expected), texts(found), strict=True))
    assert same >= 0.9 * len(PROBE)


def test_mistakes_are_told(toy_translator: Translator, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a list of lines, not one string"):
        toy_translator.translate("su lu")
    with pytest.raises(UserError, match="did you mean 'beam_size'"):
        toy_translator.translate(["su"], beam_sizes=3)
    with pytest.raises(UserError, match="2 sources but 1 targets"):
        toy_translator.score(["su", "lu"], ["su"])
    with pytest.raises(UserError, match="no model at"):
        Translator.load(tmp_path / "missing")


def test_forced_scores_do_not_depend_on_the_batch(flat_translator: Translator) -> None:
    sources, targets = [*PROBE[:11], "", "su"], [*map(toy.expected, PROBE[:11]), "DI", ""]

    together = flat_translator.score(sources, targets)

    alone = [flat_translator.score([s], [t])[0] for s, t in zip(sources, targets, strict=True)]
    assert together == pytest.approx(alone, abs=1e-4)
    assert all(score < 0 for score in together)


def test_forced_scores_add_up_the_steps(flat_translator: Translator) -> None:
    model, config = flat_translator.model, flat_translator.model.config
    source, target = flat_translator.tokenizer.encode("su lu"), flat_translator.tokenizer.encode("DI")
    ids = torch.tensor([[*source, config.eos_id]])
    total, read = 0.0, [config.bos_id]
    with torch.no_grad():
        for piece in [*target, config.eos_id]:
            steps = torch.log_softmax(model(ids, ids >= 0, torch.tensor([read]))[0, -1], dim=-1)
            total += steps[piece].item()
            read.append(piece)

    assert teacher_forcing.log_probs(model, [source], [target]) == pytest.approx([total], abs=1e-4)


def test_nothing_is_logged_without_a_reason(toy_translator: Translator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    toy_translator.translate(["su lu"])
    assert caplog.records == []
