"""Pictures of what heads are worth, and of what a model loses with them."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from translator.inspection.head_names import NAMES
from translator.inspection.head_report import COLUMNS, HeadReport
from translator.inspection.plots import save
from translator.inspection.pruning_curve import Point

_SHOWN = ("importance", "bleu_change", "entropy", "most_alike")
_CELL = 0.45  # inches a head
_FEWEST = 4  # cells: room for a title


def draw_heads(report: HeadReport, path: str | Path) -> None:
    """Write a PNG: a row for each kind of attention, a column for each of four figures, cells by layer and head.

    Heads that have been pruned stay empty. Raises UserError where the file cannot be written.
    """
    from matplotlib.figure import Figure

    kinds = [kind for kind in NAMES if any(head.kind == kind for head in report.figures)]
    layers = 1 + max((head.layer for head in report.figures), default=0)
    heads = 1 + max((head.number for head in report.figures), default=0)
    width, height = max(heads, _FEWEST) * _CELL + 1.4, max(layers, _FEWEST) * _CELL + 0.9
    figure = Figure(figsize=(len(_SHOWN) * width, max(len(kinds), 1) * height), layout="constrained")
    columns = {column.key: column for column in COLUMNS}
    grid: Any = figure.subplots(max(len(kinds), 1), len(_SHOWN), squeeze=False)
    for row, kind in zip(grid, kinds, strict=False):
        for axes, key in zip(row, _SHOWN, strict=True):
            cells = _cells(report, kind, key, layers, heads)
            image = axes.imshow(cells, aspect="auto", **_colours(cells, signed=columns[key].signed))
            axes.figure.colorbar(image, ax=axes, shrink=0.8)
            axes.set_title(f"{NAMES[kind]}: {key.replace('_', ' ')}", fontsize=9)
            axes.set_xlabel("head", fontsize=8)
            axes.set_ylabel("layer", fontsize=8)
            axes.set_xticks(range(heads))
            axes.set_yticks(range(layers))
    save(figure, Path(path))


def draw_curve(points: Sequence[Point], path: str | Path) -> None:
    """Write a PNG: BLEU, speed and size against the share of heads kept, a line for each kind of attention.

    Raises UserError where the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 4.0), layout="constrained")
    panels = figure.subplots(1, 3, width_ratios=[3, 2, 2])
    drawn = (("greedy BLEU", "bleu"), ("target pieces a second", "pieces_per_second"), ("MB of weights", "megabytes"))
    for axes, (title, key) in zip(panels, drawn, strict=True):
        for kinds in dict.fromkeys(point.kinds for point in points):
            own = [point for point in points if point.kinds == kinds]
            shares = [100.0 * point.kept / point.heads for point in own]
            style: dict[str, Any] = {"color": "black", "linewidth": 2.5} if kinds == "all" else {}
            axes.plot(shares, [getattr(point, key) for point in own], marker="o", label=kinds, **style)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("heads kept, % of that kind", fontsize=9)
        axes.set_ylim(bottom=0)
        axes.invert_xaxis()  # read from the whole model on
        axes.grid(alpha=0.3)
    panels[0].legend(title="heads removed from", fontsize=8, title_fontsize=8)
    save(figure, Path(path))


def _colours(cells: list[list[float]], *, signed: bool) -> dict[str, Any]:
    """White is 0; losses are red."""
    most = max((abs(cell) for row in cells for cell in row if not math.isnan(cell)), default=0.0) or 1.0
    return {"cmap": "RdBu", "vmin": -most, "vmax": most} if signed else {"cmap": "Blues", "vmin": 0.0, "vmax": most}


def _cells(report: HeadReport, kind: str, key: str, layers: int, heads: int) -> list[list[float]]:
    """A figure by layer and head; NaN, which is drawn empty, where there is none."""
    cells = [[math.nan] * heads for _ in range(layers)]
    for head, of_head in report.figures.items():
        if head.kind == kind:
            cells[head.layer][head.number] = of_head.get(key, math.nan)
    return cells
