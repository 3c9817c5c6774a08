import io
import math
import random
from collections import Counter
from collections.abc import Mapping

import pytest
import sentencepiece

from translator.data.lines import WORD_MARK
from translator.data.subword_sampling import LONGEST_STRETCH, SubwordSampler, draw, lattice, merge_with_dropout
from translator.errors import UserError

NEVER, ALWAYS_BEST = 1e-300, 1e6  # strengths at which BPE and unigram sampling give the library's own segmentation


def words(count: int, seed: int) -> list[str]:
    """Made-up words with the letter statistics of syllables, so that merges are many and nested."""
    rng = random.Random(seed)
    syllables = [a + b + c for a in "bdkstr" for b in "aeiouü" for c in ("", "n", "s", "ch")]
    return ["".join(rng.choices(syllables, k=rng.randint(1, 6))) for _ in range(count)]


def train(kind: str, **options: object) -> sentencepiece.SentencePieceProcessor:
    rng = random.Random(1)
    vocabulary = words(300, seed=2)
    lines = [" ".join(rng.choices(vocabulary, k=7)) for _ in range(300)]
    model = io.BytesIO()
    settings: dict[str, object] = {"vocab_size": 211, "normalization_rule_name": "identity", "minloglevel": 2} | options
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type=kind, **settings
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


@pytest.mark.parametrize(("kind", "strength"), [("bpe", NEVER), ("unigram", ALWAYS_BEST)])
@pytest.mark.parametrize("options", [{}, {"byte_fallback": True, "vocab_size": 467}, {"add_dummy_prefix": False}])
def test_without_chance_it_is_the_library_segmentation(kind: str, strength: float, options: dict[str, object]):
    sp = train(kind, **options)
    sampler = SubwordSampler(sp)
    rng = random.Random(1)
    made_up = words(3000, seed=3)
    lines = [" ".join(made_up[i : i + 10]) for i in range(0, len(made_up), 10)]
    for line in [*lines, "", "a", "🚀漢 kan🚀sa 漢字 🚀 🚀", "aaaa" * 20, "<s> </s> <unk>", "sasasa" * 16]:
        assert sampler.sample(line, rng, strength) == sp.encode(line), line


@pytest.mark.parametrize(("kind", "strength"), [("bpe", 0.3), ("unigram", 0.2)])
def test_samples_spell_the_same_text(kind: str, strength: float):
    sp = train(kind)
    sampler, rng = SubwordSampler(sp), random.Random(1)
    line = " ".join(words(10, seed=5))
    samples = [sampler.sample(line, rng, strength) for _ in range(50)]
    assert all(sp.decode(ids) == line for ids in samples)
    assert len(set(map(tuple, samples))) > 25
    assert max(map(max, samples)) < sp.vocab_size()


def test_words_beyond_the_longest_stretch_are_cut_and_complete():
    sp = train("bpe")
    word = "kandastro" * 50
    assert len(word) > LONGEST_STRETCH
    assert sp.decode(SubwordSampler(sp).sample(word, random.Random(1), 0.1)) == word


# BPE-dropout

SCORES = {"a": -9.0, "b": -9.0, "c": -9.0, "ab": -1.0, "bc": -2.0, "abc": -3.0}


@pytest.mark.parametrize("word", ["abc", "abab", "bcab", "cab", "x"])
def test_the_best_scored_merge_goes_first(word: str):
    expected = {"abc": ["abc"], "abab": ["ab", "ab"], "bcab": ["bc", "ab"], "cab": ["c", "ab"], "x": ["x"]}
    assert merge_with_dropout(word, SCORES, 0.0, random.Random(1)) == expected[word]


def test_ties_are_merged_from_the_left():
    assert merge_with_dropout("aaa", {"aa": -1.0}, 0.0, random.Random(1)) == ["aa", "a"]


def test_certain_dropout_leaves_characters():
    assert merge_with_dropout("abc", SCORES, 1.0, random.Random(1)) == ["a", "b", "c"]


def test_segmentations_are_as_frequent_as_dropout_makes_them():
    """By hand: with p = dropout, q = 1 - p, "abc" ends as
    a b c: both skipped at once, p * p; a bc: ab skipped, bc merged, then "abc" skipped, p q p;
    ab c: ab merged, "abc" skipped, q p; abc: the rest."""
    p, n = 0.3, 20_000
    q = 1 - p
    rng = random.Random(1)
    counts = Counter(tuple(merge_with_dropout("abc", SCORES, p, rng)) for _ in range(n))
    expected = {("a", "b", "c"): p * p, ("a", "bc"): p * q * p, ("ab", "c"): q * p, ("abc",): q * q + p * q * q}
    assert set(counts) == set(expected)
    for pieces, share in expected.items():
        assert counts[pieces] / n == pytest.approx(share, abs=4 * math.sqrt(share / n))


# Unigram sampling


def segmentations(word: str, scores: Mapping[str, float]) -> list[list[str]]:
    if not word:
        return [[]]
    return [
        [word[:end], *rest]
        for end in range(1, len(word) + 1)
        if word[:end] in scores
        for rest in segmentations(word[end:], scores)
    ]


@pytest.mark.parametrize("sharpness", [0.2, 1.0])
def test_segmentations_are_as_frequent_as_their_probability(sharpness: float):
    scores = {"a": -2.0, "b": -2.5, "c": -3.0, "ab": -3.1, "bc": -4.0, "abc": -7.0}
    weights = {tuple(s): math.exp(sharpness * sum(scores[p] for p in s)) for s in segmentations("abcab", scores)}
    total, n, rng = sum(weights.values()), 20_000, random.Random(1)
    ways = lattice("abcab", scores, sharpness, longest=3, unknown=-99.0)
    counts = Counter(tuple(draw("abcab", ways, rng)) for _ in range(n))
    assert set(counts) <= set(weights)
    for pieces, weight in weights.items():
        share = weight / total
        assert counts[pieces] / n == pytest.approx(share, abs=4 * math.sqrt(share / n))


def test_unknown_characters_stand_alone():
    ways = lattice("axb", {"a": -1.0, "b": -1.0}, 1.0, longest=2, unknown=-20.0)
    assert draw("axb", ways, random.Random(1)) == ["a", "x", "b"]


# Models that cannot be sampled


@pytest.mark.parametrize("kind", ["char", "word"])
def test_a_model_with_one_segmentation_is_refused(kind: str):
    with pytest.raises(UserError, match="needs a tokenizer of kind bpe or unigram"):
        SubwordSampler(train(kind, hard_vocab_limit=False))


def test_a_model_with_pieces_across_words_is_refused():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["one two one two three"] * 9),
        model_writer=model,
        model_type="bpe",
        vocab_size=29,
        split_by_whitespace=False,
        minloglevel=2,
    )
    sp = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    assert any(WORD_MARK in sp.id_to_piece(i)[1:] for i in range(sp.vocab_size()))
    with pytest.raises(UserError, match="whose pieces keep to one word"):
        SubwordSampler(sp)
