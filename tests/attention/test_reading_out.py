"""Cross-attention learns to read any memory: here the cells of a grid, asked for by row and column."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from translator.attention.multihead import CrossAttention

ROWS, COLUMNS, COLOURS = 3, 5, 7
CELLS, ASKED, SPURIOUS = ROWS * COLUMNS, 4, 6
D, MEMORY = 32, ROWS + COLUMNS + COLOURS


class Reader(nn.Module):
    """The colour of the asked cell; queries are 32 wide, the memory is 15."""

    def __init__(self) -> None:
        super().__init__()
        self.question = nn.Linear(ROWS + COLUMNS, D)
        self.look = CrossAttention(D, 2, memory_dim=MEMORY)
        self.answer = nn.Linear(D, COLOURS)

    def forward(self, questions: Tensor, memory: Tensor, valid: Tensor) -> Tensor:
        """Questions (B, ASKED, 8), memory (B, S, 15), valid (B, S) -> (B, ASKED, 7)."""
        x = self.question(questions)
        return self.answer(self.look(x, self.look.project_kv(memory), valid))


def grids(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Questions, memories, validity and answers.

    Cells stand in any order. After them come columns that are not valid: other colours for the same places, which must
    not be believed.
    """
    place = torch.cat(
        (
            F.one_hot(torch.arange(CELLS) // COLUMNS, ROWS),
            F.one_hot(torch.arange(CELLS) % COLUMNS, COLUMNS),
        ),
        dim=1,
    ).float()  # (CELLS, ROWS + COLUMNS)
    order = torch.rand(count, CELLS, generator=generator).argsort(1)  # (B, CELLS): the cell that stands there
    order = torch.cat((order, order[:, :SPURIOUS]), dim=1)  # (B, S)
    colours = torch.randint(COLOURS, order.shape, generator=generator)
    memory = torch.cat((place[order], F.one_hot(colours, COLOURS).float()), dim=2)
    valid = (torch.arange(order.shape[1]) < CELLS).expand(order.shape)
    asked = torch.randint(CELLS, (count, ASKED), generator=generator)
    answers = colours[:, :CELLS].gather(1, order[:, :CELLS].argsort(1).gather(1, asked))
    return place[asked], memory, valid, answers


@pytest.fixture(scope="module")
def reader() -> Reader:
    """Some seconds of training at most."""
    torch.manual_seed(1)
    model, generator = Reader(), torch.Generator().manual_seed(2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(200):
        questions, memory, valid, answers = grids(32, generator)
        loss = F.cross_entropy(model(questions, memory, valid).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def test_the_asked_cell_is_read_nearly_always(reader: Reader) -> None:
    questions, memory, valid, answers = grids(500, torch.Generator().manual_seed(3))
    right = reader(questions, memory, valid).argmax(-1) == answers
    assert right.float().mean() > 0.99
    # Without the mask the columns that say otherwise would be believed.
    misled = reader(questions, memory, torch.ones_like(valid)).argmax(-1) == answers
    assert misled.float().mean() < 0.95


@torch.no_grad()
def test_it_looks_at_the_asked_cell(reader: Reader) -> None:
    questions, memory, valid, _ = grids(100, torch.Generator().manual_seed(4))
    heard: list[Tensor] = []
    reader.look.on_weights = heard.append
    reader(questions, memory, valid)
    reader.look.on_weights = None
    same = (memory[:, None, :, : ROWS + COLUMNS] == questions[:, :, None]).all(-1) & valid[:, None]  # (B, ASKED, S)
    found = heard[0].mean(1).argmax(-1)  # (B, ASKED)
    assert same.gather(2, found[..., None]).float().mean() > 0.99
    assert (heard[0][..., CELLS:] == 0).all()
