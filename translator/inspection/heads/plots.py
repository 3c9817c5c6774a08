"""A picture of what heads are worth."""

import math
from pathlib import Path
from typing import Any

import torch

from translator.inspection.heads.names import NAMES
from translator.inspection.heads.report import COLUMNS, Column, HeadReport
from translator.inspection.plots import save

_SHOWN = {
    "importance": "importance",
    "bleu_change": "change of BLEU without it",
    "entropy": "entropy of its weights, nats",
    "most_alike": "likeness to the most similar head",
}
_CELL = 0.45  # inches a head
_FEWEST = 5  # cells: room for a title


def draw_heads(report: HeadReport, path: str | Path) -> None:
    """Write a PNG: a row for each kind of attention, a column for each of four figures, cells by layer and head.

    A figure has one scale for all kinds, so that their colours compare. Heads that have been pruned stay empty.
    Raises UserError where the file cannot be written.
    """
    from matplotlib.figure import Figure

    kinds = [kind for kind in NAMES if any(head.kind == kind for head in report.figures)]
    layers = 1 + max((head.layer for head in report.figures), default=0)
    heads = 1 + max((head.number for head in report.figures), default=0)
    width, height = max(heads, _FEWEST) * _CELL + 0.4, layers * _CELL + 0.5
    rows = max(len(kinds), 1)
    figure = Figure(figsize=(len(_SHOWN) * width + 0.6, rows * height + 0.5), layout="constrained")
    grid: Any = figure.subplots(rows, len(_SHOWN), squeeze=False)
    columns = {column.key: column for column in COLUMNS}
    for place, (key, title) in enumerate(_SHOWN.items()):
        cells = torch.full((rows, layers, heads), math.nan, dtype=torch.float64)  # NaN is drawn empty
        for head, of_head in report.figures.items():
            cells[kinds.index(head.kind), head.layer, head.number] = of_head.get(key, math.nan)
        most = float(cells.nan_to_num().abs().max()) or 1.0
        # White is 0; losses are red.
        scale: tuple[str, float] = ("RdBu", -most) if columns[key].signed else ("Blues", 0.0)
        for axes, kind, of_kind in zip(grid[:, place], kinds, cells, strict=False):
            image = axes.imshow(of_kind.numpy(), aspect="auto", cmap=scale[0], vmin=scale[1], vmax=most)
            _write_numbers(axes, of_kind.tolist(), columns[key], image)
            axes.set_xticks(range(heads))
            axes.set_yticks(range(layers))
            axes.tick_params(labelsize=8)
            axes.set_ylabel(f"{NAMES[kind]}, layer" if place == 0 else "", fontsize=9)
        grid[0, place].set_title(title, fontsize=9)
        grid[-1, place].set_xlabel("head", fontsize=9)
    save(figure, Path(path))


def _write_numbers(axes: Any, cells: list[list[float]], column: Column, image: Any) -> None:
    """Each figure into its cell, white where the cell is dark."""
    for layer, line in enumerate(cells):
        for head, value in enumerate(line):
            red, green, blue, _ = image.to_rgba(value)
            text = "" if math.isnan(value) else column.cell(value)
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            axes.text(head, layer, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
