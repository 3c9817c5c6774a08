"""Cross-attention of a pair: whole, per head, in the right row, of the target that was given."""

import json

import pytest
import torch

from translator.alignment.reading import Reading
from translator.errors import UserError
from translator.inference.translator import Translator, teacher_forcing
from translator.inspection.pair import attend

SOURCE, TARGET = "ko di no, lu su", "ME NOTI rabame"


def test_weights_of_all_layers_and_heads_are_probabilities_over_the_source(flat_translator: Translator) -> None:
    pair = attend(flat_translator, SOURCE, TARGET)
    shape = (4, len(pair.target_pieces), len(pair.source_pieces))
    assert [tuple(weights.shape) for weights in pair.layers] == [shape, shape]
    assert (pair.source_pieces[-1], pair.target_pieces[-1]) == ("</s>", "</s>")
    for weights in pair.layers:
        assert weights.min() >= 0
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(shape[:2]))


def test_a_row_belongs_to_the_step_that_writes_the_piece(flat_translator: Translator) -> None:
    tokenizer = flat_translator.tokenizer
    pair = attend(flat_translator, SOURCE, TARGET, layer=0, heads=(1, 3))
    pieces = [tokenizer.encode(SOURCE)], [tokenizer.encode(TARGET)]
    expected = teacher_forcing.cross_attention(flat_translator.model, *pieces, Reading.at(0, (1, 3)))[0]
    assert pair.mean().shape[0] == len(expected) + 1
    torch.testing.assert_close(pair.mean()[:-1], expected)
    torch.testing.assert_close(pair.mean(), (pair.layers[0][1] + pair.layers[0][3]) / 2)


def test_at_the_input_step_a_row_belongs_to_the_step_that_reads_the_piece(flat_translator: Translator) -> None:
    shifted = Translator(flat_translator.model, flat_translator.tokenizer, Reading.at(0, (1, 3), "input"))
    pair, output = attend(shifted, SOURCE, TARGET), attend(flat_translator, SOURCE, TARGET, layer=0, heads=(1, 3))

    assert torch.equal(pair.mean(), output.mean())
    assert pair.rows == ["<s>", *output.target_pieces[:-1]]
    assert output.rows == output.target_pieces
    assert pair.reading_name.endswith("layer 0, mean of heads 1, 3, as each piece is read")
    assert pair.to_dict()["step"] == "input"
    assert pair.links == shifted.align([SOURCE], [TARGET])[0].links
    assert pair.links != output.links


def test_the_asked_step_goes_before_the_stored_one(flat_translator: Translator) -> None:
    stored = Translator(flat_translator.model, flat_translator.tokenizer, Reading.at(0, (1, 3), "input"))

    assert attend(stored, SOURCE, TARGET).reading == Reading.at(0, (1, 3), "input")
    assert attend(stored, SOURCE, TARGET, step="output").reading == Reading.at(0, (1, 3), "output")
    assert attend(flat_translator, SOURCE, TARGET, heads=(2,)).reading.step == "output"
    asked = attend(flat_translator, SOURCE, TARGET, heads=(2,), step="input")
    assert asked.reading_name == "cross-attention of layer 1, head 2, as each piece is read"
    assert asked.links == flat_translator.align([SOURCE], [TARGET], align_heads=(2,), align_step="input")[0].links


def test_the_given_target_is_used(flat_translator: Translator) -> None:
    pair = attend(flat_translator, SOURCE, TARGET)
    other = attend(flat_translator, SOURCE, "ME ME ME ME")
    assert "".join(pair.target_pieces[:-1]).replace("▁", " ").strip() == TARGET
    assert pair.links != other.links
    assert {t for _, t in pair.links} == {0, 1, 2}


def test_without_a_target_it_is_the_models_own_translation(flat_translator: Translator) -> None:
    pair = attend(flat_translator, SOURCE)
    assert pair.target == flat_translator.translate([SOURCE])[0].text != ""


def test_the_model_is_left_in_the_mode_it_was_in_and_dropout_has_no_say(flat_translator: Translator) -> None:
    model = flat_translator.model
    quiet = attend(flat_translator, SOURCE, TARGET)
    dropouts = [module for module in model.modules() if type(module).__name__ == "Dropout"]
    before = [module.p for module in dropouts]
    try:
        for module in dropouts:
            module.p = 0.5
        model.train()
        assert torch.equal(attend(flat_translator, SOURCE, TARGET).mean(), quiet.mean())
        assert model.training
    finally:
        model.eval()
        for module, p in zip(dropouts, before, strict=True):
            module.p = p


def test_a_models_pair_carries_all_three_kinds(flat_translator: Translator) -> None:
    pair = attend(flat_translator, SOURCE, TARGET)
    source, target = len(pair.source_pieces), len(pair.target_pieces)
    assert [tuple(w.shape) for w in pair.encoder] == [(4, source, source)] * 2
    assert [tuple(w.shape) for w in pair.decoder] == [(4, target, target)] * 2
    for weights in (*pair.encoder, *pair.decoder):
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:2]))
    assert all(weights.triu(1).abs().max() == 0 for weights in pair.decoder)
    assert (len(pair.source_words), len(pair.target_words)) == (source - 1, target - 1)
    assert (pair.begin, max(pair.source_words), max(pair.target_words)) == ("<s>", 4, 2)


def test_all_of_it_becomes_json(flat_translator: Translator) -> None:
    pair = attend(flat_translator, SOURCE, TARGET, layer=1, heads=(2,))
    values = json.loads(json.dumps(pair.to_dict()))
    assert (values["source"], values["target"], values["layer"], values["heads"]) == (SOURCE, TARGET, 1, [2])
    assert torch.tensor(values["cross_attention"][1][3]).allclose(pair.layers[1][3])
    assert [tuple(link) for link in values["alignment"]] == pair.links


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        ((" ", "x"), {}, "source is blank"),
        (("x", "\u00a0"), {}, "target is blank"),
        ((SOURCE, TARGET), {"layer": 99}, "no decoder layer 99; layers go from 0 to 1"),
        ((SOURCE, TARGET), {"layer": -1}, "no decoder layer -1; layers go from 0 to 1"),
        ((SOURCE, TARGET), {"heads": (4,)}, "has no head 4; heads go from 0 to 3"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    flat_translator: Translator, arguments: tuple[str, str], options: dict[str, object], expected: str
) -> None:
    with pytest.raises(UserError, match=expected):
        attend(flat_translator, *arguments, **options)
