import logging
import warnings
from types import SimpleNamespace

import lightning
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from translator.data.datamodule import TranslationDataModule
from translator.errors import UserError


class Words:
    """A word is the number that it spells; sampling adds a random id at the end."""

    pad_id, bos_id, eos_id = 0, 2, 3

    def encode(self, text):
        return [int(word) for word in text.split()]

    def encode_sampled(self, text, rng, strength):
        return [*self.encode(text), rng.randrange(1000, 10**6)]


def text(n, first):
    """Pairs of lengths 1 to 8; the first source word tells them apart."""
    return SimpleNamespace(
        sources=[" ".join([str(first + i)] + ["7"] * (i * i % 8)) for i in range(n)],
        targets=[" ".join(["8"] * (1 + i * i * i % 7)) for i in range(n)],
    )


CORPUS = SimpleNamespace(train=text(101, first=100), valid=text(11, first=500))


def make_data(corpus=CORPUS, **options):
    return TranslationDataModule(corpus, Words(), **{"max_tokens": 67, "seed": 5, **options})


def first_ids(batch):
    return sorted(batch.src_ids[:, 0].tolist())


class Recorder(lightning.LightningModule):
    """One weight that depends on every batch, and a record of (update, batches) it was trained on."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen, self.validated = [], []
        self.break_off_at = None

    def training_step(self, batch, batch_idx):
        if len(self.seen) == self.break_off_at:
            self.trainer.save_checkpoint(self.trainer.default_root_dir + "/broken_off.ckpt")
            raise RuntimeError("broken off")
        self.seen.append((self.global_step, batch_idx, batch.src_ids.tolist()))
        return (self.weight - batch.n_tokens / 10).square()

    def validation_step(self, batch, batch_idx):
        self.validated.append((self.global_step, first_ids(batch)))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def fit(directory, resume=None, model=None, data=None, checkpoint=None, **options):
    """Train a fresh module (or `model`), saving `update=U.ckpt` files under `directory`."""
    saver = ModelCheckpoint(
        directory,
        filename="{step}",
        save_top_k=-1,
        **({"every_n_train_steps": 1} if checkpoint is None else checkpoint),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".*not resumable.*")
        trainer = lightning.Trainer(
            accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
            num_sanity_val_steps=1, default_root_dir=directory, callbacks=[saver], **options,
        )  # fmt: skip
        model = model or Recorder()
        trainer.fit(model, data or make_data(), ckpt_path=resume, weights_only=True)
    return model


def saved_at(directory, update):
    return str(directory / f"step={update}.ckpt")


def assert_goes_on(resumed, whole, update):
    assert resumed.seen == [entry for entry in whole.seen if entry[0] >= update]
    assert torch.equal(resumed.weight, whole.weight)


BATCHES = len(make_data().train_dataloader())


def ending(kind, updates_per_epoch):
    """Two epochs and two updates, or three epochs."""
    return {"max_steps": 2 * updates_per_epoch + 2, "max_epochs": -1} if kind == "max_steps" else {"max_epochs": 3}


@pytest.mark.parametrize("kind", ["max_epochs", "max_steps"])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_resume_goes_on_with_the_next_batch_wherever_it_stopped(tmp_path, accumulate, kind):
    per_epoch = -(-BATCHES // accumulate)
    options = {**ending(kind, per_epoch), "accumulate_grad_batches": accumulate}
    whole = fit(tmp_path, **options)
    assert len({str(entry[2]) for entry in whole.seen}) > 2 * BATCHES  # epochs differ
    for update in (1, per_epoch - 1, per_epoch, per_epoch + 1, 2 * per_epoch):
        assert_goes_on(fit(tmp_path / "again", saved_at(tmp_path, update), **options), whole, update)


@pytest.mark.parametrize("kind", ["max_epochs", "max_steps"])
def test_resume_from_a_resumed_run_goes_on_as_well(tmp_path, kind):
    per_epoch = -(-BATCHES // 3)
    options = {**ending(kind, per_epoch), "accumulate_grad_batches": 3}
    whole = fit(tmp_path, **options)
    for number, first in enumerate((2, per_epoch)):
        again = tmp_path / str(number)
        fit(again, saved_at(tmp_path, first), **options)
        for second in (first + 1, 2 * per_epoch):
            assert_goes_on(fit(tmp_path / "third", saved_at(again, second), **options), whole, second)


@pytest.mark.parametrize("kind", ["max_epochs", "max_steps"])
@pytest.mark.parametrize(
    "checkpoint", [{}, {"save_on_train_epoch_end": True}], ids=["after validation", "after an epoch"]
)
def test_resume_goes_on_from_checkpoints_made_between_updates(tmp_path, checkpoint, kind):
    options = {**ending(kind, BATCHES), "val_check_interval": BATCHES // 2}
    whole = fit(tmp_path, checkpoint=checkpoint, **options)
    saved = sorted(int(path.stem.split("=")[1]) for path in tmp_path.glob("*.ckpt"))
    assert BATCHES in saved or BATCHES // 2 in saved
    for update in saved[:2]:
        assert_goes_on(fit(tmp_path / "again", saved_at(tmp_path, update), **options), whole, update)


@pytest.mark.parametrize("batch", [3, BATCHES])
def test_a_batch_that_broke_off_is_trained_on_again(tmp_path, batch):
    whole = fit(tmp_path, max_epochs=3)
    broken = Recorder()
    broken.break_off_at = batch
    with pytest.raises(RuntimeError, match="broken off"):
        fit(tmp_path / "broken", model=broken, max_epochs=3)
    assert_goes_on(fit(tmp_path / "again", str(tmp_path / "broken" / "broken_off.ckpt"), max_epochs=3), whole, batch)


def test_sampled_pieces_are_the_same_after_a_resume(tmp_path):
    def run(directory, resume=None):
        return fit(directory, resume, data=make_data(sampling=0.1), max_epochs=3)

    whole = run(tmp_path)
    assert_goes_on(run(tmp_path / "again", saved_at(tmp_path, BATCHES + 3)), whole, BATCHES + 3)
    ends = {max(row) for _, _, rows in whole.seen for row in rows}
    assert len(ends) == 3 * 101  # each pair ends on a new random piece in each epoch


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"max_tokens": 71}, "max_tokens was 67, is 71"),
        ({"seed": 6}, "seed was 5, is 6"),
        ({"max_length": 5}, "pairs was 101, is"),
        ({"max_sentences": 50}, "max_sentences was 0, is 50"),
    ],
)
def test_resume_on_other_batches_is_refused(tmp_path, changed, message):
    fit(tmp_path, max_steps=3)
    with pytest.raises(UserError, match=message):
        fit(tmp_path / "again", saved_at(tmp_path, 3), data=make_data(**changed), max_steps=5)


def test_an_epoch_trains_on_each_pair_once_and_validates_on_each(tmp_path):
    model = fit(tmp_path, max_epochs=2)
    for epoch in range(2):
        seen = model.seen[epoch * BATCHES : (epoch + 1) * BATCHES]
        assert sorted(row[0] for _, _, rows in seen for row in rows) == list(range(100, 201))
    validated = [ids for update, ids in model.validated if update == 2 * BATCHES]
    assert sorted(index for ids in validated for index in ids) == list(range(500, 511))


def test_shortened_epochs_move_on_through_the_data(tmp_path):
    whole = fit(tmp_path, max_epochs=2)
    short = fit(tmp_path / "short", max_epochs=4, limit_train_batches=4)
    assert len(short.seen) == 16 > BATCHES
    assert [entry[2] for entry in short.seen] == [entry[2] for entry in whole.seen[:16]]


def test_outside_of_a_fit_the_loader_gives_the_first_epoch(tmp_path):
    data = make_data()
    before = [first_ids(batch) for batch in data.train_dataloader()]
    model = fit(tmp_path, data=data, max_steps=BATCHES + 3)
    assert before == [sorted(row[0] for row in rows) for _, _, rows in model.seen[:BATCHES]]
    assert [first_ids(batch) for batch in data.train_dataloader()] == before


@pytest.mark.parametrize("precision", ["bf16-mixed", "bf16-true"])
def test_batches_pass_through_every_precision_untouched(tmp_path, precision):
    model = fit(tmp_path, max_steps=3, precision=precision)
    assert [entry[2] for entry in model.seen] == [entry[2] for entry in fit(tmp_path / "plain", max_steps=3).seen]


def test_processes_share_the_validation_pairs(monkeypatch):
    data = make_data()
    monkeypatch.setattr("torch.distributed.is_initialized", lambda: True)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 3)
    seen = []
    for rank in range(3):
        monkeypatch.setattr("torch.distributed.get_rank", lambda rank=rank: rank)
        loader = data.val_dataloader()
        own = [first_ids(batch) for batch in loader]
        assert len(own) == len(loader) > 0
        seen += own
    assert sorted(index for ids in seen for index in ids) == list(range(500, 511))


def test_validation_keeps_long_pairs_and_drops_those_with_a_blank_side():
    valid = SimpleNamespace(sources=["501", "502 7 7 7 7", " "], targets=["8", "8", "8"])
    data = make_data(SimpleNamespace(train=CORPUS.train, valid=valid), max_length=3)
    assert sorted(index for batch in data.val_dataloader() for index in first_ids(batch)) == [501, 502]


def test_what_is_left_out_and_the_padding_are_reported(caplog):
    train = SimpleNamespace(sources=["101", "102 7 7 7 7", " ", "104 7"], targets=["8", "8", "8", "8"])
    with caplog.at_level(logging.INFO, "translator"):
        make_data(SimpleNamespace(train=train, valid=CORPUS.valid), max_length=3).setup("fit")
    assert "left out 2 training pairs: 1 with a blank side, 1 with more than 3 pieces on a side" in caplog.text
    assert (
        "2 training pairs in 1 batches a process and epoch, 10.0 % padding" in caplog.text
    )  # 9 real places of 2 * (3 + 2)


@pytest.mark.parametrize("part", ["train", "valid"])
def test_a_part_without_pairs_is_refused(part):
    parts = {"train": CORPUS.train, "valid": CORPUS.valid, part: SimpleNamespace(sources=[], targets=[])}
    with pytest.raises(UserError, match="no pair to batch"):
        make_data(SimpleNamespace(**parts))
