"""The corpus as a whole: splits, words, alignments, reproducibility."""

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from pocket import SPLITS, generate
from pocket.company import VERBS, adjectives_of, nouns_of
from pocket.english import with_s
from pocket.lexicon import ADJECTIVES, ADVERBIAL, FIXED_VERB, NOUNS
from pocket.splits import held_out_pairs
from tests.pocket.packaged import packaged

SIZES = {"train": 12000, "valid": 500, "test": 500, "test_unseen": 500}


@pytest.fixture(scope="module")
def corpus():
    """Of the package's own files, which test_files.py holds to be what the generator writes."""
    return {split: packaged(split)[:size] for split, size in SIZES.items()}


@pytest.fixture(scope="module")
def everything(corpus):
    return [pair for split in SPLITS for pair in corpus[split]]


def test_the_lexicon_has_hundreds_of_content_words():
    verbs = {verb.name for verb in VERBS.items} | set(FIXED_VERB)
    nouns, adjectives = {noun.en for noun in NOUNS}, {adjective.en for adjective in ADJECTIVES}
    adverbs = {name for name in ADVERBIAL if " " not in name}
    assert (len(nouns), len(adjectives)) == (len(NOUNS), len(ADJECTIVES))
    assert len(nouns) + len(verbs) + len(adjectives) + len(adverbs) >= 350


def test_a_single_pattern_alone_makes_millions_of_sentences():
    """The (old) man buys a (new) hat: verbs by what they take, with and without adjectives."""

    def phrases(kinds):
        return {noun.en: 1 + len(adjectives_of(noun.en).items) for noun in nouns_of(kinds).items}

    count = 0
    for verb in {(verb.name, verb.de): verb for verb in VERBS.items if verb.what}.values():
        subjects, objects = phrases(verb.who), phrases(verb.what)
        count += sum(subjects.values()) * sum(objects.values()) - sum(
            subjects[noun] * objects[noun] for noun in subjects.keys() & objects.keys()
        )
    assert count > 1_000_000


def test_every_split_has_its_size_and_no_line_twice(corpus):
    for split, size in SIZES.items():
        assert len({pair.source for pair in corpus[split]}) == len(corpus[split]) == size


def test_splits_share_no_line_even_for_other_seeds(corpus):
    splits = {
        **corpus,
        "valid": corpus["valid"] + generate("valid", 211, 8),
        "test": corpus["test"] + generate("test", 211, 9),
    }
    for one in SPLITS:
        for other in SPLITS:
            if one < other:
                assert {p.source for p in splits[one]}.isdisjoint(p.source for p in splits[other]), (one, other)
                assert {p.target for p in splits[one]}.isdisjoint(p.target for p in splits[other]), (one, other)


def test_a_larger_corpus_begins_with_the_smaller_one():
    assert generate("train", 50, 3) == generate("train", 83, 3)[:50]


def test_one_source_has_one_translation_and_back(everything):
    there = {pair.source: pair.target for pair in everything}
    back = {pair.target: pair.source for pair in everything}
    assert all(there[pair.source] == pair.target and back[pair.target] == pair.source for pair in everything)


def test_links_are_in_range_and_leave_no_word_out(everything):
    for pair in everything:
        sources, targets = len(pair.source.split(" ")), len(pair.target.split(" "))
        assert list(pair.links) == sorted(set(pair.links))
        assert {i for i, _ in pair.links} == set(range(sources)), pair
        assert {j for _, j in pair.links} == set(range(targets)), pair


def test_lines_look_like_sentences(everything):
    for pair in everything:
        for line in (pair.source, pair.target):
            assert re.fullmatch(r"[A-ZÄÖÜ][\wäöüÄÖÜß', ]*[.?]( [A-ZÄÖÜ][\wäöüß ]*\.)?", line), line
            assert not re.search("  | ,|,,|,[.]", line), line
        assert pair.source.count("?") == pair.target.count("?")
    lengths = [len(pair.source.split()) for pair in everything]
    assert sum(4 <= length <= 14 for length in lengths) > 0.9 * len(lengths)


def test_every_word_is_seen_often_in_training(corpus):
    text = [f" {re.sub('[.,?]', '', pair.source.lower())} " for pair in corpus["train"]]
    forms = {noun.en: {noun.en.lower(), noun.en_plural.lower()} for noun in NOUNS}
    forms.update({adjective.en: {adjective.en, adjective.en_more} - {""} for adjective in ADJECTIVES})
    for verb in VERBS.items:
        one = {verb.en, with_s(verb.en), verb.past, verb.ing, "has" if verb.en == "have" else verb.en}
        forms.setdefault(verb.en, set()).update(one)
    once = Counter(" ".join(text).split())
    for lemma, group in forms.items():
        seen = sum(once[form] if " " not in form else sum(f" {form} " in line for line in text) for form in group)
        assert seen >= 30, (lemma, seen)


def _forms(verb):
    second = f" {verb.en_prep or verb.particle}".rstrip()
    return {form + second for form in (verb.en, with_s(verb.en), verb.past, verb.ing)}


def _spoken_pairs(pairs):
    """The verbs and objects that stand side by side in plain text: eats a (red) apple."""
    verbs = "|".join(sorted({form for verb in VERBS.items for form in _forms(verb)}, key=len, reverse=True))
    nouns = "|".join(sorted({form for noun in NOUNS for form in (noun.en, noun.en_plural)}, key=len, reverse=True))
    adjectives = "|".join(adjective.en for adjective in ADJECTIVES)
    pattern = re.compile(rf"\b({verbs}) (?:the|a|an|this|these|my|your) (?:(?:{adjectives}) )?({nouns})\b")
    return {match for pair in pairs for match in pattern.findall(pair.source)}


def test_unseen_verb_and_noun_pairs_stay_out_of_all_other_splits(corpus):
    nouns = {noun.en: {noun.en, noun.en_plural} for noun in NOUNS}
    verbs = {verb.name: _forms(verb) for verb in VERBS.items}
    held_out = [(verb, noun) for verb, role, noun in sorted(held_out_pairs()) if role == "object"]
    apart = {(v, n) for verb, noun in held_out for v in verbs[verb] for n in nouns[noun]}
    seen = _spoken_pairs([*corpus["train"], *corpus["valid"], *corpus["test"]])
    assert len(held_out) > 100
    assert len(seen) > 2000
    assert seen & apart == set()
    assert len(_spoken_pairs(corpus["test_unseen"]) & apart) > 50


def test_every_kind_that_a_verb_or_adjective_asks_for_exists():
    kinds = set().union(*(noun.all_kinds for noun in NOUNS))
    for verb in VERBS.items:
        asked = (*verb.who, *verb.what, *verb.goes, *(spot.partition("@")[0] for spot in verb.where))
        assert set(asked) <= kinds, (verb.name, set(asked) - kinds)
        assert {*verb.mood, *verb.trait} <= {adjective.en for adjective in ADJECTIVES} | {"ugly"}, verb.name
    for adjective in ADJECTIVES:
        assert set(adjective.kinds) <= kinds, (adjective.en, set(adjective.kinds) - kinds)


PROGRAM = """
import json
from pocket import SPLITS, generate
print(json.dumps([[p.source, p.target, p.links] for split in SPLITS for p in generate(split, 61, 2)]))
"""


def test_the_same_seed_gives_the_same_corpus_in_another_process():
    here = json.loads(json.dumps([[p.source, p.target, p.links] for split in SPLITS for p in generate(split, 61, 2)]))
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        output = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, check=True, env=environment
        ).stdout
        assert json.loads(output) == here


def test_another_seed_gives_another_corpus():
    assert generate("train", 100, 1) != generate("train", 100, 2)


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="no split 'dev'; there are train, valid, test, test_unseen"):
        generate("dev", 1, 1)
