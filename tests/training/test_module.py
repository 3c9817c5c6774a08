"""What an update is made of: tokens weighted alike however they are batched, clipping, rates, gradients."""

import logging
from collections.abc import Sequence

import pytest
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from torch.utils.data import DataLoader

from tests.training.runs import composed
from translator.data.batching import Batch, Pair, collate
from translator.model.config import ModelConfig
from translator.model.transformer import Transformer
from translator.training import module as module_module
from translator.training.config import TrainingConfig
from translator.training.module import TranslationModule, build_optimizer
from translator.training.step import schedule

V = 31


def pairs(count: int) -> list[Pair]:
    """Pairs of very different lengths: 1 to 29 pieces on either side."""
    generator = torch.Generator().manual_seed(count)

    def side(length: int) -> list[int]:
        return torch.randint(4, V, (length,), generator=generator).tolist()

    return [(side(1 + (i * 11) % 29), side(1 + (i * 17) % 29)) for i in range(count)]


def batches(of: Sequence[Pair], size: int) -> list[Batch]:
    return [collate(of[start : start + size], 0, 2, 3) for start in range(0, len(of), size)]


def configured(*overrides: str) -> TrainingConfig:
    return TrainingConfig.from_dict(composed(*overrides))


def make_module(dropout: float = 0.0, lr: float = 0.5, gradient_clip: float = 0.0) -> TranslationModule:
    """The same small model each time, in float64, with a rate that stays."""
    torch.manual_seed(3)
    config = configured(
        "schedule=constant", "schedule.warmup=0", f"optimizer.lr={lr}", f"trainer.gradient_clip={gradient_clip}"
    )
    sizes = ModelConfig(
        vocab_size=V, d_model=6, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, d_ff=11, dropout=dropout
    )
    return TranslationModule(Transformer(sizes).double(), config)


class Watch(Callback):
    """The rate of each update, and the gradients as the optimizer takes them: accumulated, averaged, clipped."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.gradients: list[dict[str, torch.Tensor]] = []

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        def note(optimizer: torch.optim.Optimizer, *_: object) -> None:
            self.rates.append(optimizer.param_groups[0]["lr"])
            named = pl_module.named_parameters()
            self.gradients.append({name: p.grad.clone() for name, p in named if p.grad is not None})

        trainer.optimizers[0].register_step_post_hook(note)


def fit(module: TranslationModule, data: list[Batch], accumulate: int = 1, epochs: int = 1) -> Watch:
    watch = Watch()
    trainer = Trainer(
        accelerator="cpu", max_epochs=epochs, accumulate_grad_batches=accumulate, logger=False, callbacks=[watch],
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
    )  # fmt: skip
    trainer.fit(module, DataLoader(data, batch_size=None))
    return watch


@pytest.fixture
def plain_descent(monkeypatch: pytest.MonkeyPatch) -> None:
    """SGD, which unlike Adam shows the size of the gradient."""
    monkeypatch.setattr(
        module_module, "build_optimizer", lambda model, config: torch.optim.SGD(model.parameters(), lr=config.lr)
    )


@pytest.mark.parametrize(("size", "accumulate"), [(6, 4), (5, 5), (4, 6), (1, 24), (7, 4), (13, 16)])
@pytest.mark.usefixtures("plain_descent")
def test_accumulated_batches_weigh_as_one_large_batch_does(size: int, accumulate: int) -> None:
    whole, parts = make_module(), make_module()
    fit(whole, batches(pairs(24), 24))
    fit(parts, batches(pairs(24), size), accumulate)
    start = dict(make_module().named_parameters())
    for name, parameter in parts.named_parameters():
        torch.testing.assert_close(parameter, whole.get_parameter(name), rtol=1e-6, atol=1e-9)
    assert max(float((p - start[name]).detach().abs().max()) for name, p in whole.named_parameters()) > 1e-3


@pytest.mark.usefixtures("plain_descent")
def test_the_incomplete_last_window_of_an_epoch_is_an_update_of_its_own_tokens() -> None:
    whole, parts = make_module(), make_module()
    fit(whole, [*batches(pairs(24)[:16], 16), *batches(pairs(24)[16:], 8)], epochs=2)
    fit(parts, batches(pairs(24), 4), accumulate=4, epochs=2)
    for name, parameter in parts.named_parameters():
        torch.testing.assert_close(parameter, whole.get_parameter(name), rtol=1e-6, atol=1e-9)


@pytest.mark.usefixtures("plain_descent")
def test_the_gradient_of_each_update_is_that_of_the_mean_loss_of_its_tokens() -> None:
    module = make_module(lr=1e-12)  # the weights stay, so that all epochs are alike
    found = fit(module, batches(pairs(24), 8), accumulate=3, epochs=2).gradients
    model, batch = make_module().model, collate(pairs(24), 0, 2, 3)
    logits = model(batch.src_ids, batch.src_valid, batch.tgt_in)[batch.tgt_valid]
    possible = [index for index in range(V) if index not in (0, 2)]
    targets = torch.tensor([possible.index(int(target)) for target in batch.tgt_out[batch.tgt_valid]])
    loss = torch.nn.functional.cross_entropy(logits[:, possible], targets, label_smoothing=0.1)
    names, parameters = zip(*model.named_parameters(), strict=True)
    wanted = dict(zip([f"model.{name}" for name in names], torch.autograd.grad(loss, parameters), strict=True))
    assert len(found) == 2
    for gradients in found:
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, wanted[name], rtol=1e-5, atol=1e-9)


def test_accumulation_and_one_large_batch_agree_under_the_real_optimizer() -> None:
    whole, parts = make_module(lr=1e-3), make_module(lr=1e-3)
    fit(whole, batches(pairs(24), 24), epochs=3)
    fit(parts, batches(pairs(24), 8), accumulate=3, epochs=3)
    for name, parameter in parts.named_parameters():
        torch.testing.assert_close(parameter, whole.get_parameter(name), rtol=0.0, atol=1e-6)


@pytest.mark.usefixtures("plain_descent")
def test_clipping_looks_at_the_gradient_per_token() -> None:
    norms: dict[float, torch.Tensor] = {}
    for clip in (0.0, 100.0, 0.01):
        watch = fit(make_module(gradient_clip=clip), batches(pairs(24), 8), accumulate=3)
        norms[clip] = torch.stack([g.norm() for g in watch.gradients[0].values()]).norm()
    assert 0.1 < float(norms[0.0]) < 100.0  # while the gradient of the sum over 343 tokens is far longer
    assert float(norms[100.0]) == float(norms[0.0])
    assert float(norms[0.01]) == pytest.approx(0.01, rel=1e-3)


def test_every_parameter_gets_a_gradient() -> None:
    module = make_module()
    gradients = fit(module, batches(pairs(24), 24)).gradients[0]
    assert gradients.keys() == dict(module.named_parameters()).keys()
    blind = [name for name, gradient in gradients.items() if float(gradient.norm()) < 1e-12]
    assert blind == [name for name in gradients if name.endswith("k_proj.bias")]  # softmax is blind to a shift


@pytest.mark.parametrize("accumulate", [1, 3])
def test_rates_follow_the_number_of_updates(accumulate: int) -> None:
    module = make_module()
    module.config = configured(
        "schedule=inverse_sqrt", "schedule.warmup=5", "optimizer.lr=0.007", "trainer.gradient_clip=0"
    )
    watch = fit(module, batches(pairs(24), 3)[:7], accumulate, epochs=accumulate * 2)
    assert len(watch.rates) == (14 if accumulate == 1 else 18)  # 7 an epoch, or 3 of which the last is smaller
    expected = [0.007 * schedule(module.config.schedule, 0)(done) for done in range(len(watch.rates))]
    assert watch.rates == pytest.approx(expected, rel=1e-12)


def test_the_cosine_ends_with_the_last_update_also_under_accumulation() -> None:
    module = make_module()
    module.config = configured("schedule=cosine", "schedule.warmup=2", "trainer.gradient_clip=0")
    rates = fit(module, batches(pairs(24), 3)[:7], accumulate=3, epochs=2).rates
    assert len(rates) == 6
    assert rates[-1] == pytest.approx(0.0, abs=1e-12)
    assert all(rate > 1e-5 for rate in rates[:-1])


def test_padding_changes_neither_loss_nor_gradient() -> None:
    module = make_module()
    short = [pair for pair in pairs(24) if len(pair[0]) < 9 and len(pair[1]) < 9]
    alone = collate(short, 0, 2, 3)
    module.eval()

    def nll(of: list[Pair]) -> torch.Tensor:
        return module.validation_step(collate(of, 0, 2, 3), 0)["nll"]

    long = (list(range(4, 31)) * 2, list(range(4, 31)) * 3)
    torch.testing.assert_close(nll([*short, long]) - nll([long]), nll(short), rtol=1e-10, atol=1e-10)
    assert module.validation_step(alone, 0)["tokens"] == sum(len(target) + 1 for _, target in short)


def test_decay_is_on_matrices_alone() -> None:
    model = make_module().model
    groups = build_optimizer(model, configured("optimizer.weight_decay=0.3").optimizer).param_groups
    decayed = {id(p) for group in groups if group["weight_decay"] == 0.3 for p in group["params"]}
    assert decayed == {id(p) for p in model.parameters() if p.dim() == 2}
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))


def test_a_window_longer_than_an_epoch_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="translator"):
        watch = fit(make_module(lr=1e-3), batches(pairs(24), 4), accumulate=16, epochs=2)
    assert len(watch.rates) == 2
    assert "6 batches, fewer than trainer.accumulate_grad_batches=16" in caplog.text


def test_dropout_depends_on_seed_and_position_alone() -> None:
    def trained(noise: int) -> dict[str, torch.Tensor]:
        module = make_module(dropout=0.3, lr=1e-3)
        torch.manual_seed(noise)
        fit(module, batches(pairs(24), 8))
        return dict(module.named_parameters())

    first, second = trained(1), trained(2)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_an_output_bias_takes_part_in_the_loss() -> None:
    torch.manual_seed(3)
    sizes = {"d_model": 6, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 11, "dropout": 0.0}
    model = Transformer(ModelConfig(vocab_size=V, output_bias=True, **sizes)).double()  # type: ignore[arg-type]
    with torch.no_grad():
        model.output_bias.normal_()
    (batch,) = batches(pairs(5), 5)
    found = TranslationModule(model, configured()).validation_step(batch, 0)["nll"]
    logits = model(batch.src_ids, batch.src_valid, batch.tgt_in)[batch.tgt_valid]
    expected = torch.nn.functional.cross_entropy(logits, batch.tgt_out[batch.tgt_valid], reduction="sum")
    torch.testing.assert_close(found, expected)
