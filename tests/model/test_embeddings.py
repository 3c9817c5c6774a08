import math

import pytest
import torch

from tests.model.small import D, V, alike, config, words
from translator.model.embeddings import Embeddings, sinusoids


def embeddings(**changes) -> Embeddings:
    torch.manual_seed(1)
    return Embeddings(config(**changes), torch.nn.Embedding(V, D)).double().eval()


@pytest.mark.parametrize("d_model", [6, 7])
def test_sinusoids_at_positions_worked_out_by_hand(d_model):
    table = sinusoids(14, d_model)
    assert table.shape == (14, d_model)
    for position in (0, 1, 13):
        row = []
        for i in range(0, d_model, 2):
            angle = position / 10_000 ** (i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        alike(table[position], torch.tensor(row[:d_model], dtype=torch.float64), 1e-14)
    assert table[0].tolist() == [0.0, 1.0] * 3 + [0.0] * (d_model % 2)
    assert table[1, 0].item() == pytest.approx(0.8414709848078965)
    assert table[13, 1].item() == pytest.approx(0.9074467814501962)


@pytest.mark.parametrize("d_model", [6, 7])
def test_in_halves_the_sines_stand_before_the_cosines(d_model):
    table, halves = sinusoids(14, d_model), sinusoids(14, d_model, halves=True)
    alike(halves, torch.cat((table[:, 0::2], table[:, 1::2]), dim=1), 0.0)
    module, ids = embeddings(positions="sinusoidal_halves"), words(2, 5)
    expected = module.tokens.weight[ids] * math.sqrt(D) + sinusoids(8, D, halves=True)[3:]
    alike(module(ids, start=3), expected, 1e-14)


def test_token_vectors_are_scaled_and_positions_added():
    module, ids = embeddings(), words(2, 5)
    expected = module.tokens.weight[ids] * math.sqrt(D) + sinusoids(8, D)[3:]
    alike(module(ids, start=3), expected, 1e-14)


def test_learned_positions_start_where_they_are_told():
    module, ids = embeddings(positions="learned", max_positions=11), words(2, 5)
    alike(module(ids, start=3), module.tokens.weight[ids] * math.sqrt(D) + module.learned.weight[3:8], 1e-14)


def test_rotary_positions_are_not_added_here():
    module, ids = embeddings(positions="rotary"), words(2, 5)
    alike(module(ids, start=3), module.tokens.weight[ids] * math.sqrt(D), 1e-14)


def test_embeddings_may_have_no_positions_and_no_scale():
    module, ids = embeddings(positions="none", embedding_scale=False), words(2, 5)
    alike(module(ids, start=3), module.tokens.weight[ids], 0.0)


def test_the_sum_may_be_normalised_before_dropout():
    changes = {"positions": "learned", "max_positions": 11, "embedding_norm": True, "norm_epsilon": 0.25}
    module, ids = embeddings(**changes), words(2, 5)
    with torch.no_grad():
        module.norm.weight.copy_(torch.arange(D))
        module.norm.bias.fill_(3.0)
    x = module.tokens.weight[ids] * math.sqrt(D) + module.learned.weight[3:8]
    deviation = (x.var(-1, unbiased=False, keepdim=True) + 0.25).sqrt()
    alike(module(ids, start=3), (x - x.mean(-1, keepdim=True)) / deviation * torch.arange(D) + 3.0)


def test_the_table_grows_and_follows_the_type():
    module, ids = embeddings(), words(1, 5)
    for start in (0, 200, 63, 1021):
        alike(module(ids, start)[0] - module(ids, 0)[0], sinusoids(start + 5, D)[start:] - sinusoids(5, D), 1e-12)
    assert module.float()(ids, 1021).dtype == torch.float32
    expected = sinusoids(1026, D)[1021:] - sinusoids(5, D)
    alike((module(ids, 1021) - module(ids, 0))[0].double(), expected, 1e-5)


def test_the_table_is_no_weight():
    assert list(embeddings().state_dict()) == ["tokens.weight"]
