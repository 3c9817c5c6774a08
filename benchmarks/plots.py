"""The picture of how an output token's cost grows, from rows of figures alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.tables import Row, series
from translator.inspection.plots import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_growth(rows: Sequence[Row], path: str | Path) -> None:
    """Write a PNG: milliseconds an output token (left) and bytes of the state (right) over the output's length.

    Both axes are logarithmic, so that a straight slope is a power and flat is flat; bars reach from the fastest to
    the slowest round. Raises UserError where the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    for of_series in series(rows):
        reached, label = [row["length"] for row in of_series], name_of(of_series[0])
        middle = [row["ms_per_token"] for row in of_series]
        below = [row["ms_per_token"] - row["ms_per_token_min"] for row in of_series]
        above = [row["ms_per_token_max"] - row["ms_per_token"] for row in of_series]
        style: dict[str, Any] = {"marker": "o", "markersize": 3, "label": label}
        style["linestyle"] = "-" if of_series[0]["cache"] else "--"
        left.errorbar(reached, middle, yerr=[below, above], capsize=2, **style)
        right.plot(reached, [row["state_bytes"] / 1024 for row in of_series], **style)
    lengths = sorted({row["length"] for row in rows})
    _finish(left, "milliseconds a token (whole batch)", lengths)
    _finish(right, "kilobytes that grow with the output", lengths)
    left.legend(fontsize=8)
    save(figure, Path(path), dpi=110)


def name_of(row: Row) -> str:
    """What a series is called in the picture."""
    cache = "cache" if row["cache"] else "no cache"
    return f"{cache}, batch {row['batch']}, beam {row['beam']}, {row['kv_heads']} kv heads"


def _finish(axes: "Axes", what: str, lengths: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, labels=[str(length) for length in lengths])
    axes.set_yscale("log")
    axes.set_xlabel("output tokens so far")
    axes.set_ylabel(what)
    axes.grid(visible=True, which="both", alpha=0.3)
