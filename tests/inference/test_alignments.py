"""Links of translations and of given pairs, on a language whose right links are the diagonal."""

import itertools
from collections import Counter
from pathlib import Path

import pytest
import torch

from tests import toy
from tests.conftest import toy_model
from translator.alignment.reading import Reading
from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.decoding.hypothesis import Hypothesis
from translator.errors import UserError
from translator.inference.decoding import align_part, target_words
from translator.inference.encoding import Part
from translator.inference.translator import Translator, teacher_forcing

PROBE = toy.sentences(31, seed=33)


def shifts(links: list[tuple[int, int]]) -> Counter[int]:
    return Counter(s - t for s, t in links)


def strongest(links: list[tuple[int, int]], weights: list[float]) -> list[tuple[int, int]]:
    """Of each target word the link with the largest weight."""
    found = {t: (s, t) for _, (s, t) in sorted(zip(weights, links, strict=True))}
    return sorted(found.values())


@pytest.mark.parametrize(("mode", "least"), [("hard", 0.8), ("soft", 0.9)])
def test_words_are_linked_with_the_words_they_come_from(toy_translator: Translator, mode: str, least: float) -> None:
    """Of hard links every piece has its own, so single wrong pieces count; of soft ones the strongest of each word."""
    translated = toy_translator.translate(PROBE, alignments=mode)
    given = toy_translator.align(PROBE, [toy.expected(line) for line in PROBE], alignments=mode)

    pairs = [(t.alignment or [], t.weights or []) for t in translated], [(a.links, a.weights) for a in given]
    for found in pairs:
        chosen = [links if mode == "hard" else strongest(links, weights) for links, weights in found]
        by_shift = sum(map(shifts, chosen), Counter())
        assert by_shift[0] > least * by_shift.total()
        assert max(by_shift[1], by_shift[-1]) < (1 - least) * by_shift.total()


def test_every_target_word_has_a_link_and_all_indices_are_words(flat_translator: Translator) -> None:
    for line, found in zip(PROBE, flat_translator.translate(PROBE, alignments="hard"), strict=True):
        assert found.alignment is not None
        assert sorted({t for _, t in found.alignment}) == list(range(len(found.text.split(" "))))
        assert len(set(found.alignment)) == len(found.alignment)
        assert all(0 <= s < len(line.split(" ")) for s, _ in found.alignment)


def test_asking_for_links_changes_nothing_else(flat_translator: Translator) -> None:
    plain = flat_translator.translate(PROBE[:7], beam_size=3, max_length=9)

    for options in ({}, {"align_step": "input", "align_layer": 0}, {"subwords": True}):
        for mode in ("hard", "soft", 0.2):
            with_links = flat_translator.translate(PROBE[:7], beam_size=3, max_length=9, alignments=mode, **options)
            assert [(t.text, t.score) for t in with_links] == [(t.text, t.score) for t in plain]


@pytest.mark.parametrize("step", ["output", "input"])
def test_links_belong_to_the_candidate_they_stand_with(toy_translator: Translator, step: str) -> None:
    tokenizer = toy_translator.tokenizer
    how = {"alignments": "hard", "align_step": step}
    found = toy_translator.translate(PROBE[:11], beam_size=5, n_best=3, batch_tokens=300, **how)
    entries = [
        (line, entry)
        for line, translation in zip(PROBE[:11], found, strict=True)
        for entry in translation.n_best
        if tokenizer.pieces(tokenizer.encode(entry.text)) == entry.tokens and entry.text
    ]
    assert len(entries) > 22

    given = toy_translator.align([line for line, _ in entries], [entry.text for _, entry in entries], **how)

    assert [entry.alignment for _, entry in entries] == [alignment.links for alignment in given]


def test_the_given_target_is_the_one_that_is_aligned(toy_translator: Translator) -> None:
    source = "zono waba lurati rako"
    words = toy.expected(source).split()

    (forward,) = toy_translator.align([source], [" ".join(words)])
    (backward,) = toy_translator.align([source], [" ".join(reversed(words))])
    (double,) = toy_translator.align([source], [" ".join(words * 2)])

    assert forward.links == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert sorted({t for _, t in backward.links}) == [0, 1, 2, 3]
    assert backward.links != forward.links
    assert sorted({t for _, t in double.links}) == list(range(8))


def test_empty_sides_and_separators(flat_translator: Translator) -> None:
    sources = ["", "su", "", "su ||| lu", "su\tlu", " \u00a0"]
    targets = ["DI", "", "", "DI ||| ZO", "DI", "DI"]

    for mode in ("hard", "soft", 0.5):
        found = flat_translator.align(sources, targets, alignments=mode)
        assert [a.links for a in found[:3]] == [[], [], []]
        assert all(weight == weight for a in found for weight in a.weights)  # no NaN
    hard = flat_translator.align(sources, targets)
    assert sorted({t for _, t in hard[3].links}) == [0, 1, 2]
    assert hard[4].links == [(0, 0), (1, 0)]
    assert hard[5].links == []


def test_soft_weights_are_probabilities_of_words_without_the_end(flat_translator: Translator) -> None:
    (found,) = flat_translator.align(["zono, waba su"], ["DI ZO"], alignments="soft")

    sums = Counter[int]()
    for (_, t), weight in zip(found.links, found.weights, strict=True):
        sums[t] += weight  # type: ignore[assignment]
    assert dict(sums) == pytest.approx({0: 1.0, 1: 1.0}, abs=0.02)


def test_pieces_are_linked_on_request(flat_translator: Translator) -> None:
    (found,) = flat_translator.align(["zokoba lurati"], ["NOKOBA"], subwords=True)

    pieces = flat_translator.tokenizer.encode("NOKOBA")
    assert len(pieces) > 1
    assert [t for _, t in found.links] == list(range(len(pieces)))


def test_layer_and_heads_are_those_asked_for(flat_translator: Translator) -> None:
    source, target = flat_translator.tokenizer.encode(PROBE[0]), flat_translator.tokenizer.encode("DI ZO ME")
    with torch.no_grad():
        heads = [
            teacher_forcing.cross_attention(flat_translator.model, [source], [target], Reading.at(0, [h]))[0]
            for h in range(4)
        ]
        (mean,) = teacher_forcing.cross_attention(flat_translator.model, [source], [target], Reading.at(0, range(4)))
        (other,) = teacher_forcing.cross_attention(flat_translator.model, [source], [target], Reading.at(1, range(4)))

    assert mean.shape == (len(target), len(source) + 1)
    assert mean.sum(dim=1) == pytest.approx(torch.ones(len(target)), abs=1e-4)
    assert torch.stack(heads).mean(dim=0) == pytest.approx(mean, abs=1e-6)
    assert (mean - other).abs().max() > 1e-3
    ways = [
        (0, (2,), "output"), (0, (3,), "output"), (1, (2,), "output"), (1, "mean", "output"), (1, "mean", "input"),
    ]  # fmt: skip
    for use in (
        lambda **how: flat_translator.align([PROBE[0]], ["DI ZO ME"], **how)[0].weights,
        lambda **how: flat_translator.translate([PROBE[0]], max_length=4, **how)[0].weights,
    ):
        found = [use(alignments="soft", align_layer=la, align_heads=he, align_step=st) for la, he, st in ways]
        assert all(a != b for a, b in itertools.combinations(found, 2))


def test_a_row_belongs_to_the_step_that_puts_the_piece_out(flat_translator: Translator) -> None:
    """So the first row knows nothing of the target, and no row knows its own piece."""
    encode = flat_translator.tokenizer.encode
    source = encode(PROBE[0])
    with torch.no_grad():
        first, second = teacher_forcing.cross_attention(
            flat_translator.model, [source, source], [encode("DI ZO"), encode("DI ME")], Reading.at(1, range(4))
        )

    assert first == pytest.approx(second, abs=1e-6)


def test_at_the_input_step_the_row_of_a_piece_knows_it(flat_translator: Translator) -> None:
    """It is the row that the next piece has at the output step, and does not depend on the next piece."""
    encode, model = flat_translator.tokenizer.encode, flat_translator.model
    source, target = encode(PROBE[0]), encode("DI ZO ME")
    with torch.no_grad():
        (output,) = teacher_forcing.cross_attention(model, [source], [target], Reading.at(1, range(4)))
        (shifted,) = teacher_forcing.cross_attention(model, [source], [target], Reading.at(1, range(4), "input"))
        (everything,) = teacher_forcing.all_cross_attention(model, [source], [target])

    assert shifted.shape == output.shape == (len(target), len(source) + 1)
    assert torch.equal(shifted[:-1], output[1:])
    assert [tuple(w.shape) for w in everything] == [(4, len(target) + 1, len(source) + 1)] * 2
    assert everything[1].mean(dim=0)[:-1] == pytest.approx(output, abs=1e-6)
    assert everything[1].mean(dim=0)[1:] == pytest.approx(shifted, abs=1e-6)


def test_words_have_the_same_numbers_whatever_the_pieces(flat_translator: Translator, tmp_path: Path) -> None:
    """Long words, punctuation, characters that were never seen, a lone word mark: only spaces and tabs count."""
    lines = toy.sentences(100, seed=1)
    letters = train_tokenizer([*lines, *map(toy.expected, lines)], tmp_path / "t.model", kind="bpe", vocab_size=50)
    small = Translator(toy_model(letters), letters)
    sources = ["zonowabalurati, ko", "\u2581 su  ko\tlu", "\u4e2d\u6587 su", "ko."]
    targets = ["DI ZO, MEMEMEME", "DI \u2581", "\u00bfDI \u4e2d ZO", "NOKOBA."]

    for source, target in zip(sources, targets, strict=True):
        n_source, n_target = len(source.replace("\t", " ").split()), len(target.split())
        for translator in (flat_translator, small):
            (found,) = translator.align([source], [target])
            assert found.links
            assert all(0 <= s < n_source and 0 <= t < n_target for s, t in found.links)
        pieces = [len(t.tokenizer.encode("zonowabalurati")) for t in (small, flat_translator)]
        assert pieces[0] > pieces[1]


def test_a_missing_layer_or_head_is_refused(flat_translator: Translator) -> None:
    with pytest.raises(UserError, match="no decoder layer 99; layers go from 0 to 1"):
        flat_translator.translate(["su"], alignments="hard", align_layer=99)
    with pytest.raises(UserError, match="has no head 4; heads go from 0 to 3"):
        flat_translator.align(["su"], ["DI"], align_heads=(4,))
    with pytest.raises(UserError, match="align_step must be one of output, input, not 'inputs'; did you mean 'input'"):
        flat_translator.align(["su"], ["DI"], align_step="inputs")


def test_produced_pieces_find_their_words(toy_tokenizer: Tokenizer) -> None:
    ids = toy_tokenizer.encode("NOKOBA, DI SUKO")
    lone_mark = [i for i in range(toy_tokenizer.vocab_size) if toy_tokenizer.pieces([i]) == ["\u2581"]]
    words = target_words(ids, toy_tokenizer)

    assert words == toy_tokenizer.encode_with_words("NOKOBA, DI SUKO")[1]
    assert target_words([*lone_mark, *ids, *lone_mark], toy_tokenizer) == [0, *words, 2]
    assert target_words(lone_mark, toy_tokenizer) == []
    assert target_words([], toy_tokenizer) == []


def test_a_hypothesis_without_words_has_no_links(toy_tokenizer: Tokenizer) -> None:
    lone_mark = next(i for i in range(toy_tokenizer.vocab_size) if toy_tokenizer.pieces([i]) == ["\u2581"])
    part = Part(0, toy_tokenizer.encode("su"), [0])
    hypothesis = Hypothesis((lone_mark,), -1.0, -0.5, True)

    for mode in ("hard", "soft", 0.5):
        assert align_part(part, hypothesis, torch.tensor([[0.5, 0.5]]), toy_tokenizer, mode, False).links == []
