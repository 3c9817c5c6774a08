"""The checks hold for sound models of every kind, and each fails where what it promises is broken."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import toy
from tests.model.small import small
from translator.attention import kernels
from translator.attention.cache import KV
from translator.attention.multihead import SelfAttention
from translator.bundle import Bundle, load_bundle
from translator.inspection.probes import find_probes, made_up
from translator.inspection.selfcheck import CHECKS, Finding, Subject, run_checks, subject_of
from translator.model.config import Site
from translator.model.embeddings import Embeddings
from translator.model.transformer import Transformer

KINDS: list[dict[str, Any]] = [
    {},
    {"norm": "post", "positions": "learned", "max_positions": 40, "tie_embeddings": "none"},
    {"positions": "rotary", "encoder_attention": Site(2, 3), "decoder_attention": Site(1, 3)},
]


def subject(**changes: Any) -> Subject:
    model = small(**changes)
    probes = made_up(model.config, 3, "")
    return Subject(model, [ids[:4] for ids in probes.sources], [ids[:7] for ids in probes.targets])


@pytest.mark.parametrize("changes", KINDS)
def test_sound_models_hold(changes: dict[str, Any]) -> None:
    findings = run_checks(subject(**changes))
    assert len(findings) == len(CHECKS)
    assert [finding.name for finding in findings if not finding.holds] == []


def forgets_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = Embeddings.forward
    monkeypatch.setattr(Embeddings, "forward", lambda self, ids, start=0: forward(self, ids))


def forgets_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KV, "append", lambda self, k, v: KV(k, v, self.end))


def sees_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = SelfAttention.forward
    monkeypatch.setattr(SelfAttention, "forward", lambda self, x, valid=None: forward(self, x))


def looks_at_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    step = Transformer.step

    def sharper(self: Transformer, last: torch.Tensor, state: Any) -> Any:
        log_probs, state = step(self, last, state)
        return torch.log_softmax(log_probs * (1 + len(last) / 100), dim=-1), state

    monkeypatch.setattr(Transformer, "step", sharper)


def fuses_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    fused = kernels.attend_fused
    monkeypatch.setattr(kernels, "attend_fused", lambda q, k, v, visible, p: fused(q, k, v * (1 + 1e-6), visible, p))


def loses_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "attend_fused", lambda q, *_: q * math.nan)


@pytest.mark.parametrize(
    ("fault", "failing"),
    [
        (forgets_positions, {"cached = uncached", "beam 1 = greedy"}),
        (forgets_the_cache, {"cached = uncached", "beam 1 = greedy"}),
        (sees_padding, {"padded = unpadded", "batch 1 = batch N", "beam 1 = greedy"}),
        (looks_at_neighbours, {"batch 1 = batch N", "beam 1 = greedy"}),
        (fuses_wrongly, {"fused = explicit"}),
        (loses_numbers, {"cached = uncached", "padded = unpadded", "fused = explicit"}),
    ],
)
def test_each_check_sees_its_fault(fault: Any, failing: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject()
    fault(monkeypatch)
    assert failing <= {finding.name for finding in run_checks(given) if not finding.holds}


def test_a_fault_of_the_kernel_alone_leaves_the_other_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    given = subject()
    fuses_wrongly(monkeypatch)
    assert [finding.name for finding in run_checks(given) if not finding.holds] == ["fused = explicit"]


def test_what_is_no_number_does_not_hold() -> None:
    assert not Finding("", math.nan, 1.0).holds
    assert not Finding("", math.inf, 1.0).holds
    assert Finding("", 1.0, 1.0).holds


def test_checks_can_be_added() -> None:
    given = subject()
    assert run_checks(given, [lambda s: Finding("mine", float(len(s.sources)), 9.0)]) == [Finding("mine", 3.0, 9.0)]


def with_data(directory: Path, data: dict[str, Any] | None) -> Bundle:
    bundle = load_bundle(directory)
    return Bundle(bundle.model, bundle.tokenizer, bundle.config | ({} if data is None else {"data": data}))


def test_probes_come_from_the_validation_set_spread_by_length(flat_bundle: Path, tmp_path: Path) -> None:
    lines = toy.sentences(40, seed=5)
    source, target = tmp_path / "valid.aa", tmp_path / "valid.bb"
    source.write_text("\n".join(lines) + "\n")
    target.write_text("\n".join(map(toy.expected, lines)) + "\n")
    bundle = with_data(flat_bundle, {"kind": "files", "valid": [str(source), str(target)]})

    probes = find_probes(bundle, 6)

    encoded = [bundle.tokenizer.encode(line) for line in lines]
    assert probes.origin == "the validation set"
    assert len(probes.sources) == len(probes.targets) == 6
    assert all(ids in encoded for ids in probes.sources)
    lengths = sorted(map(len, probes.sources))
    assert (lengths[0], lengths[-1]) == (min(map(len, encoded)), max(map(len, encoded)))
    assert len(find_probes(bundle, 99).sources) == 40


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "does not say what it was trained on"),
        ({"kind": "hub", "path": "somebody/something"}, "is not on this machine"),
        ({"kind": "multi30k", "root": None}, "is not on this machine"),
        ({"kind": "files", "valid": ["nowhere.aa", "nowhere.bb"]}, "nowhere.aa"),
    ],
)
def test_without_data_pieces_are_made_up(flat_bundle: Path, data: dict[str, Any] | None, reason: str) -> None:
    bundle = with_data(flat_bundle, data)
    probes = find_probes(bundle, 7)
    assert reason in probes.origin
    assert len(probes.sources) == 7
    assert min(min(ids) for ids in probes.sources + probes.targets) > 3
    assert probes == find_probes(bundle, 7)


def test_the_bundle_stays_as_it_is(flat_bundle: Path) -> None:
    bundle = load_bundle(flat_bundle)
    given = subject_of(bundle, find_probes(bundle, 2))
    assert next(given.model.parameters()).dtype == torch.float64
    assert next(bundle.model.parameters()).dtype == torch.float32
