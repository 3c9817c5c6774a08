"""A picture of what a model loses, and gains, with its heads."""

from collections.abc import Sequence
from pathlib import Path

from translator.compression.curve import Point
from translator.inspection.plots import save


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
            style = {"color": "black", "linewidth": 2.5} if kinds == "all" else {}
            axes.plot(shares, [getattr(point, key) for point in own], marker="o", label=kinds, **style)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("heads kept, % of that kind", fontsize=9)
        axes.set_ylim(bottom=0)
        axes.invert_xaxis()  # read from the whole model on
        axes.grid(alpha=0.3)
    panels[0].legend(title="heads removed from", fontsize=8, title_fontsize=8)
    save(figure, Path(path))
