import io
import pickle
import random
import re
from pathlib import Path

import pytest
import sentencepiece

from translator.data.tokenizer import Tokenizer, train_tokenizer
from translator.errors import UserError

NOUNS = ["dog", "cat", "house", "tree", "street", "café", "child", "bird", "garden", "über", "Straße"]
VERBS = ["sees", "finds", "likes", "paints", "carries", "follows"]
SPECIAL_TEXT = ["before </s> after", "<pad> <pad> dog", "</s>", "<s>", "<unk> cat", "<0x41><0x0A>"]


def sentences(count: int = 200) -> list[str]:
    rng = random.Random(5)
    return [
        f"the {rng.choice(NOUNS)} {rng.choice(VERBS)} {rng.choice(NOUNS)}, a {rng.choice(NOUNS)}." for _ in range(count)
    ]


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    return train_tokenizer([*sentences(), "a < b > c / s"], path, kind=request.param, vocab_size=89)


@pytest.fixture(scope="module")
def bytewise(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    return train_tokenizer(sentences(), path, vocab_size=337, byte_fallback=True)


def library_model(**options: object) -> bytes:
    """A model as a user may bring it, with the library's defaults unless told otherwise."""
    model = io.BytesIO()
    settings: dict[str, object] = {"vocab_size": 61, "hard_vocab_limit": False, "minloglevel": 2} | options
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences()), model_writer=model, **settings)
    return model.getvalue()


def test_text_comes_back(tokenizer: Tokenizer):
    for line in sentences(20):
        assert tokenizer.decode(tokenizer.encode(line)) == line
    assert tokenizer.encode("") == tokenizer.encode(" \u00a0\t") == []
    assert tokenizer.decode([]) == ""


def test_special_ids_are_fixed(tokenizer: Tokenizer):
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id) == (0, 1, 2, 3)
    assert tokenizer.pieces([0, 1, 2, 3]) == ["<pad>", "<unk>", "<s>", "</s>"]


@pytest.mark.parametrize("text", SPECIAL_TEXT)
def test_control_symbols_in_text_are_plain_characters(tokenizer: Tokenizer, bytewise: Tokenizer, text: str):
    for each in (tokenizer, bytewise):
        ids = each.encode(text)
        assert not {each.pad_id, each.bos_id, each.eos_id} & set(ids)
        assert each.decode(ids)
    assert bytewise.decode(bytewise.encode(text)) == text


def test_a_word_after_a_control_symbol_is_still_encoded(tokenizer: Tokenizer):
    assert tokenizer.decode(tokenizer.encode("the </s> dog")) == "the </s> dog"


def test_composed_and_decomposed_accents_give_the_same_ids(tokenizer: Tokenizer):
    assert tokenizer.encode("caf\u00e9") == tokenizer.encode("cafe\u0301")


@pytest.mark.parametrize("space", ["\t", "\u00a0", "\x0b", "\x0c", "\x85", "\u2028", "\u2581", "\0", "   "])
def test_every_white_space_separates_alike(tokenizer: Tokenizer, space: str):
    assert tokenizer.encode(f"{space}the{space}dog{space}") == tokenizer.encode("the dog")


@pytest.mark.parametrize("text", ["dog 🚀 cat", "🚀", "漢字", "dog🚀 cat", "\ufeffdog", "a\ud800b", "🚀 dog 漢字"])
def test_unseen_characters_are_unknown_and_left_out_of_the_text(tokenizer: Tokenizer, text: str):
    ids = tokenizer.encode(text)
    assert tokenizer.unk_id in ids
    decoded = tokenizer.decode(ids)
    assert not re.search("⁇|<unk>|  |🚀|漢|^ | $", decoded)
    assert decoded.split() == re.sub("[^a-z ]", "", text).split()


def test_byte_fallback_copies_unseen_characters(bytewise: Tokenizer):
    assert bytewise.decode(bytewise.encode("dog 🚀 漢字\u0301")) == "dog 🚀 漢字\u0301"


def test_broken_byte_sequences_leave_no_trace(bytewise: Tokenizer):
    ids = bytewise.encode("dog 🚀 cat")
    byte_at = next(i for i, piece in enumerate(bytewise.pieces(ids)) if piece == "<0xF0>")
    assert bytewise.decode(ids[: byte_at + 3]) == "dog"
    assert bytewise.decode(ids[:byte_at] + ids[byte_at + 1 :]) == "dog cat"


def test_any_ids_give_one_line_of_text(bytewise: Tokenizer):
    rng = random.Random(7)
    for _ in range(500):
        text = bytewise.decode([rng.randrange(bytewise.vocab_size) for _ in range(30)])
        assert not re.search("⁇|<unk>|<0x|<pad>|</?s>|  |\ufffd|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029\0]", text)
        assert text == text.strip()
        text.encode()


def test_the_byte_of_a_line_feed_is_a_space(bytewise: Tokenizer):
    line_feed = next(i for i in range(bytewise.vocab_size) if bytewise.pieces([i]) == ["<0x0A>"])
    dog = bytewise.encode("dog")
    assert bytewise.decode([*dog, line_feed, line_feed, *dog]) == "dog dog"


def test_special_pieces_are_left_out_of_the_text(tokenizer: Tokenizer):
    ids = tokenizer.encode("the dog")
    assert tokenizer.decode([2, *ids, 3, 0, 0]) == "the dog"


def test_endless_words_take_linear_time(tokenizer: Tokenizer):
    for text in ("a" * 100_000, "qX7+" * 25_000, "🚀" * 3_000, "thedog" * 15_000):
        ids = tokenizer.encode(text)
        assert 0 < len(ids) <= len(text) + 1


def test_sampling_is_repeatable_and_off_by_default(tokenizer: Tokenizer):
    line = sentences()[0]
    draws = [[tokenizer.encode_sampled(line, rng, 0.3) for _ in range(20)] for rng in map(random.Random, (1, 1, 2))]
    assert draws[0] == draws[1] != draws[2]
    assert len({tuple(ids) for ids in draws[0]}) > 1
    assert all(tokenizer.decode(ids) == line for ids in draws[0])
    assert tokenizer.encode_sampled(line, random.Random(1), 0.0) == tokenizer.encode(line)
    assert len({tuple(tokenizer.encode(line)) for _ in range(20)}) == 1


def test_sampling_goes_on_from_a_saved_state(tokenizer: Tokenizer):
    rng = random.Random(1)
    tokenizer.encode_sampled("the dog sees a house", rng, 0.3)
    state = rng.getstate()
    expected = [tokenizer.encode_sampled("the dog sees a house", rng, 0.3) for _ in range(9)]
    rng.setstate(state)
    assert [tokenizer.encode_sampled("the dog sees a house", rng, 0.3) for _ in range(9)] == expected


def test_saved_is_loaded(tokenizer: Tokenizer, tmp_path: Path):
    path = tmp_path / "über [1].model"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.vocab_size == tokenizer.vocab_size
    assert loaded.encode("the dog <s>") == tokenizer.encode("the dog <s>")


def test_a_tokenizer_can_be_sent_to_another_process(tokenizer: Tokenizer):
    tokenizer.encode_sampled("the dog", random.Random(1), 0.1)
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy.encode("the dog") == tokenizer.encode("the dog")
    rngs = random.Random(1), random.Random(1)
    assert copy.encode_sampled("the dog", rngs[0], 0.5) == tokenizer.encode_sampled("the dog", rngs[1], 0.5)


def test_a_model_without_padding_gets_an_id_after_its_pieces(tmp_path: Path):
    path = tmp_path / "own.model"
    path.write_bytes(library_model())
    own = Tokenizer.load(path)
    assert (own.unk_id, own.bos_id, own.eos_id) == (0, 1, 2)
    assert own.pad_id == own.vocab_size - 1
    assert own.pad_id not in own.encode("the 🚀 dog <pad>")
    assert own.decode([own.pad_id, *own.encode("the dog"), own.pad_id]) == "the dog"
    assert own.pieces([own.pad_id]) == ["<pad>"]


def test_a_model_with_padding_keeps_its_ids():
    own = Tokenizer(library_model(pad_id=3))
    assert own.pad_id == 3
    assert own.vocab_size == sentencepiece.SentencePieceProcessor(model_proto=library_model(pad_id=3)).vocab_size()


@pytest.mark.parametrize("name", ["bos", "eos"])
def test_a_model_without_sentence_marks_is_refused(tmp_path: Path, name: str):
    path = tmp_path / "own.model"
    path.write_bytes(library_model(**{f"{name}_id": -1}))
    with pytest.raises(UserError, match=f"own.model has no {name} piece"):
        Tokenizer.load(path)


@pytest.mark.parametrize("content", [b"", b"no model at all", library_model()[:700]])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes):
    path = tmp_path / "broken.model"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.model is damaged or not a SentencePiece model"):
        Tokenizer.load(path)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(UserError, match=r"cannot read the tokenizer .*absent\.model: No such file"):
        Tokenizer.load(tmp_path / "absent.model")


@pytest.mark.parametrize("rule", ["NFC", "NFD"])
def test_an_unknown_normalisation_is_refused(rule: str):
    with pytest.raises(UserError, match=f"normalization must be one of nfc, nfkc, none, not '{rule}'"):
        Tokenizer(library_model(), rule)


def test_altered_lines_are_counted():
    lines = ["x²", "½ cup", "caf\u00e9", "cafe\u0301", "a\u00a0b", "  a  b ", "１２３", "“q”", "…"]
    own = library_model()  # with the library's default rule, which is nmt_nfkc
    ours = library_model(normalization_rule_name="identity")
    assert Tokenizer(ours, "nfc").count_altered(lines) == 0
    assert Tokenizer(ours, "nfc").count_altered(["the\u2581dog", "a\0b"]) == 2
    assert Tokenizer(ours, "nfkc").count_altered(lines) == 4
    assert Tokenizer(own, "nfc").count_altered(lines) == 4


# Pieces and the words that they belong to

LINES = [
    "the dog sees Straße, a café.",
    "  the   dog\tsees \t ",
    "the\u00a0dog sees\u3000a cat",
    "the\u2581dog \u2581 a\u2581",
    "\u2581\u2581the dog",
    "cafe\u0301 u\u0308ber e\u0301e\u0301 dog",
    "🚀 dog 漢字 🚀🚀 x🚀y",
    "dog \u00a0 cat \x85\x0b bird",
    "½ x² ﬁnd … ¨a dog",
    "\u200b dog \u00ad cat",
    "</s> <unk> dog",
    "one" * 500 + " dog",
    "",
    " \t ",
    "\u00a0",
    "a\ud800 b",
    "\x7f",
]

MODELS: dict[str, dict[str, object]] = {
    "identity": {"normalization_rule_name": "identity"},
    "library default": {},
    "byte fallback": {"byte_fallback": True, "vocab_size": 330},
    "bpe": {"model_type": "bpe"},
    "char": {"model_type": "char"},
    "no dummy prefix": {"add_dummy_prefix": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "pieces across words": {"split_by_whitespace": False, "vocab_size": 150},
}


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("rule", ["nfc", "nfkc", "none"])
def test_words_of_pieces_are_those_of_the_line(options: dict[str, object], rule: str):
    tokenizer = Tokenizer(library_model(**options), rule)
    for line in LINES:
        ids, words = tokenizer.encode_with_words(line)
        assert ids == tokenizer.encode(line)
        assert len(words) == len(ids)
        assert words == sorted(words)
        assert set(words) <= set(range(len(re.findall("[^ \t]+", line))))


def test_every_word_with_letters_owns_just_its_pieces(tokenizer: Tokenizer, bytewise: Tokenizer):
    for each in (tokenizer, bytewise, Tokenizer(library_model()), Tokenizer(library_model(add_dummy_prefix=False))):
        for line in [*LINES[:2], "birdhouse, .café überdog, stress t " * 3]:
            ids, words = each.encode_with_words(line)
            for index, word in enumerate(line.split()):
                own = [i for i, owner in zip(ids, words, strict=True) if owner == index]
                assert each.decode(own) == word


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("the\u00a0dog sees", {0: "the dog", 1: "sees"}),
        ("dog \u00a0 cat", {0: "dog", 2: "cat"}),
        ("the\u2581dog \u2581 a\u2581", {0: "the dog", 2: "a"}),
        ("cafe\u0301 dog", {0: "café", 1: "dog"}),
    ],
)
def test_white_space_inside_a_word_makes_no_new_word(tokenizer: Tokenizer, line: str, expected: dict[int, str]):
    ids, words = tokenizer.encode_with_words(line)
    found = {word: tokenizer.decode([i for i, w in zip(ids, words, strict=True) if w == word]) for word in set(words)}
    assert found == expected


def test_a_lone_word_mark_belongs_to_the_word_after_it(tokenizer: Tokenizer):
    ids, words = tokenizer.encode_with_words("dog 🚀 cat")
    marks = [word for piece, word in zip(tokenizer.pieces(ids), words, strict=True) if piece == "\u2581"]
    assert marks == [1]


def test_pieces_without_letters_and_digits_are_marks(tokenizer: Tokenizer, bytewise: Tokenizer):
    ids = tokenizer.encode("the dog , a 7 .")
    marks = [piece.strip("\u2581") in ("", ",", ".") for piece in tokenizer.pieces(ids)]

    assert tokenizer.lettered(ids) == [not mark for mark in marks]
    assert any(marks)
    assert tokenizer.lettered([tokenizer.unk_id]) == [True]  # nobody knows what it stands for
    assert all(bytewise.lettered(bytewise.encode("\u4e2d")[1:]))
