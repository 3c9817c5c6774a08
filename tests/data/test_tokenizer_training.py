import logging
import random
from pathlib import Path

import pytest

from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.errors import UserError

KINDS = ["bpe", "unigram"]


def sentences(count: int, letters: str = "abcdefgh", seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 7))) for _ in range(50)]
    return [" ".join(rng.choices(vocabulary, k=8)) for _ in range(count)]


def all_pieces(tokenizer: Tokenizer) -> list[str]:
    return tokenizer.pieces(range(tokenizer.vocab_size))


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_is_the_one_asked_for(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture):
    tokenizer = train_tokenizer(sentences(200), tmp_path / "t.model", kind=kind, vocab_size=53)
    assert tokenizer.vocab_size == 53
    assert Tokenizer.load(tmp_path / "t.model").vocab_size == 53
    assert not caplog.records


@pytest.mark.parametrize("kind", KINDS)
def test_too_large_a_vocabulary_is_lowered_with_a_warning(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture):
    tokenizer = train_tokenizer(sentences(20), tmp_path / "t.model", kind=kind, vocab_size=8000)
    assert 12 < tokenizer.vocab_size < 1000
    assert (
        f"tokenizer.vocab_size=8000 is more than this text gives; the vocabulary has {tokenizer.vocab_size}"
        in caplog.text
    )
    assert max(i for line in sentences(20) for i in tokenizer.encode(line)) < tokenizer.vocab_size
    exact = train_tokenizer(sentences(20), tmp_path / "t.model", kind=kind, vocab_size=tokenizer.vocab_size)
    assert exact.vocab_size == tokenizer.vocab_size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("byte_fallback", "minimum"), [(False, 13), (True, 269)])
def test_too_small_a_vocabulary_names_the_minimum(tmp_path: Path, kind: str, byte_fallback: bool, minimum: int):
    settings = {"kind": kind, "byte_fallback": byte_fallback}
    path = tmp_path / "t.model"
    with pytest.raises(UserError, match=f"tokenizer.vocab_size=5 is too small: .* {minimum}, the minimum"):
        train_tokenizer(sentences(200), path, vocab_size=5, **settings)
    assert not path.exists()
    assert train_tokenizer(sentences(200), path, vocab_size=minimum, **settings).vocab_size == minimum


@pytest.mark.parametrize("size", [0, -3, 1])
def test_absurd_sizes_are_refused(tmp_path: Path, size: int):
    with pytest.raises(UserError, match=f"tokenizer.vocab_size={size} is too small"):
        train_tokenizer(sentences(200), tmp_path / "t.model", vocab_size=size)


@pytest.mark.parametrize("lines", [[], ["", " \t", "\u00a0", "\u2581\u2581"]])
def test_no_text_is_said_plainly(tmp_path: Path, lines: list[str]):
    with pytest.raises(UserError, match="no text to train a tokenizer on"):
        train_tokenizer(lines, tmp_path / "t.model")


def test_unknown_settings_are_named(tmp_path: Path):
    with pytest.raises(UserError, match=r"tokenizer\.kind must be one of bpe, unigram, not 'wordpiece'"):
        train_tokenizer(sentences(9), tmp_path / "t.model", kind="wordpiece")
    with pytest.raises(UserError, match="normalization must be one of nfc, nfkc, none, not 'nmt'"):
        train_tokenizer(sentences(9), tmp_path / "t.model", normalization="nmt")
    with pytest.raises(UserError, match=r"character_coverage is 0\.5; it must be from 0.98 to 1"):
        train_tokenizer(sentences(9), tmp_path / "t.model", character_coverage=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_letters_of_long_lines_are_covered(tmp_path: Path, kind: str):
    long = [" ".join(sentences(150, "uvwxyz", seed)) for seed in range(5)]
    assert all(len(line) > 5000 for line in long)
    tokenizer = train_tokenizer([*long, *sentences(50)], tmp_path / "t.model", kind=kind, vocab_size=61)
    assert tokenizer.unk_id not in tokenizer.encode("uvwxyz abcdefgh")
    alone = train_tokenizer(long, tmp_path / "t.model", kind=kind, vocab_size=61)
    assert alone.unk_id not in alone.encode("uvwxyz")


@pytest.mark.parametrize("kind", KINDS)
def test_an_endless_word_is_covered(tmp_path: Path, kind: str):
    lines = [*sentences(50), "xyz" * 30_000 + "w", "é" * 3_000]
    tokenizer = train_tokenizer(lines, tmp_path / "t.model", kind=kind, vocab_size=61)
    assert tokenizer.unk_id not in tokenizer.encode("xyzw é abc")


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_with_the_sign_of_the_trainer_is_not_skipped(tmp_path: Path, kind: str):
    tokenizer = train_tokenizer([*sentences(50), "xyz \u2585 zyx"], tmp_path / "t.model", kind=kind, vocab_size=61)
    assert tokenizer.unk_id not in tokenizer.encode("xyz")
    assert tokenizer.decode(tokenizer.encode("abc \u2585 cba")) == "abc cba"


def test_line_ends_marks_and_controls_leave_no_piece(tmp_path: Path):
    plain = sentences(100)
    train_tokenizer(plain, tmp_path / "plain.model", vocab_size=53)
    odd = [
        line.replace(" ", space)
        for line, space in zip(plain, "\r\t\u00a0\x0b\x85\u2028\0\u2581 \x0c" * 10, strict=True)
    ]
    train_tokenizer(odd, tmp_path / "odd.model", vocab_size=53)
    assert (tmp_path / "odd.model").read_bytes() == (tmp_path / "plain.model").read_bytes()


def test_text_in_either_accent_form_trains_the_same_pieces(tmp_path: Path):
    composed = [line.replace("a", "\u00e9") for line in sentences(100)]
    decomposed = [line.replace("\u00e9", "e\u0301") for line in composed]
    pieces = [
        all_pieces(train_tokenizer(lines, tmp_path / "t.model", vocab_size=53)) for lines in (composed, decomposed)
    ]
    assert pieces[0] == pieces[1]


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_repeatable(tmp_path: Path, kind: str):
    for name in "ab":
        train_tokenizer(sentences(200), tmp_path / name, kind=kind, vocab_size=53)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_characters_beyond_the_coverage_are_unknown(tmp_path: Path):
    lines = [*sentences(200), "q"]
    full = train_tokenizer(lines, tmp_path / "t.model", vocab_size=53)
    most = train_tokenizer(lines, tmp_path / "t.model", vocab_size=53, character_coverage=0.999)
    assert full.unk_id not in full.encode("q")
    assert most.unk_id in most.encode("q")


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG):
        train_tokenizer(sentences(200), tmp_path / "t.model", vocab_size=53)
        with pytest.raises(UserError, match="too small"):
            train_tokenizer(sentences(200), tmp_path / "t.model", vocab_size=5)
    assert capfd.readouterr() == ("", "")
