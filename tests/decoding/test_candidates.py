import pytest
import torch

from tests.decoding.models import NEVER
from translator.decoding.candidates import Candidates


@pytest.mark.parametrize("vocabulary", [5, 63, 64, 65, 128, 211])
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_the_best_candidates_are_those_of_a_full_sort(vocabulary, count):
    generator = torch.Generator().manual_seed(vocabulary)
    log_probs = torch.randn(2 * 3, vocabulary, generator=generator, dtype=torch.float64).log_softmax(1)
    scores = torch.randn(2, 3, generator=generator, dtype=torch.float64)
    total = (log_probs.view(2, 3, vocabulary) + scores[:, :, None]).flatten(1)
    values, places = total.sort(descending=True)
    best, beam, token = Candidates(log_probs.clone()).best(scores, count)
    count = min(count, 3 * vocabulary)
    assert best.shape == (2, count)
    torch.testing.assert_close(best, values[:, :count])
    assert torch.equal(beam * vocabulary + token, places[:, :count])


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("vocabulary", [67, 128])
def test_logits_less_their_mass_are_log_probabilities(kind, vocabulary):
    logits = 5 * torch.randn(131, vocabulary, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    logits[2, :66], logits[3] = NEVER, NEVER
    logits = logits.to(kind)
    candidates = Candidates(logits.clone())
    assert candidates.mass.dtype == torch.promote_types(kind, torch.float32)
    found = (logits.to(candidates.mass.dtype) - candidates.mass[:, None]).exp().sum(1)
    expected = torch.ones_like(candidates.mass)
    expected[3] = 0.0
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(candidates.logits(), logits.to(candidates.mass.dtype), rtol=0, atol=0)
    tokens = torch.arange(131) % vocabulary
    chosen = logits.gather(1, tokens[:, None])[:, 0] - candidates.mass
    torch.testing.assert_close(candidates.log_probs(tokens), chosen, rtol=0, atol=0)


def test_neighbouring_best_tokens_in_one_block_are_all_found():
    log_probs = torch.full((1, 256), -9.0)
    log_probs[0, 70:75] = torch.tensor([-1.0, -2.0, -3.0, -4.0, -5.0])
    _, _, token = Candidates(log_probs).best(torch.zeros(1, 1), 5)
    assert token.tolist() == [[70, 71, 72, 73, 74]]


def test_candidates_that_are_impossible_come_last_and_stay_in_the_vocabulary():
    log_probs = torch.full((2, 67), NEVER)
    log_probs[1, 66] = -1.0
    best, beam, token = Candidates(log_probs).best(torch.tensor([[NEVER, -2.0]]), 2 * 67)
    assert (best[0, 0].item(), beam[0, 0].item(), token[0, 0].item()) == (-2.0, 1, 66)
    assert best[0, 1:].eq(NEVER).all()
    assert token.lt(67).all()


@pytest.mark.parametrize("vocabulary", [7, 131])
def test_banned_tokens_are_impossible_and_the_others_untouched(vocabulary):
    before = torch.randn(3, vocabulary)
    candidates = Candidates(before.clone())
    banned = [1, 5, vocabulary - 1]
    candidates.forbid(banned, torch.empty(3, 0, dtype=torch.long), 0)
    logits = candidates.logits()
    assert logits[:, banned].eq(NEVER).all()
    kept = [token for token in range(vocabulary) if token not in banned]
    assert torch.equal(logits[:, kept], before[:, kept])
    torch.testing.assert_close(candidates.mass, before.logsumexp(1))
    best, _, token = candidates.best(torch.zeros(3, 1), vocabulary)
    assert set(token[0, : len(kept)].tolist()) == set(kept)
    assert best[:, len(kept) :].eq(NEVER).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_exactly_the_tokens_that_complete_a_known_ngram_are_forbidden(n):
    history = torch.randint(0, 3, (11, 13), generator=torch.Generator().manual_seed(n))
    for length in range(14):
        candidates = Candidates(torch.zeros(11, 5))
        candidates.forbid((), history[:, :length], n)
        best, _, token = candidates.best(torch.zeros(11, 1), 5)
        for row, ids in enumerate(history[:, :length].tolist()):
            known = {tuple(ids[i : i + n]) for i in range(length - n + 1)}
            repeats = {token for token in range(5) if (*ids[length - n + 1 :], token) in known}
            assert set(candidates.logits()[row].isinf().nonzero().flatten().tolist()) == repeats
            possible = token[row][best[row] > NEVER]
            assert set(possible.tolist()) == set(range(5)) - repeats


@pytest.mark.parametrize("vocabulary", [5, 64, 67, 211])
def test_the_first_candidate_is_the_best_and_of_equals_the_first(vocabulary):
    logits = torch.randn(7, vocabulary, generator=torch.Generator().manual_seed(vocabulary)).round()
    logits[3] = NEVER
    candidates = Candidates(logits.clone())
    candidates.forbid([2], torch.empty(7, 0, dtype=torch.long), 0)
    logits[:, 2] = NEVER
    possible = [row for row in range(7) if row != 3]
    assert torch.equal(candidates.first()[possible], logits.argmax(1)[possible])
    assert candidates.first()[3] < vocabulary
