"""Pictures of attention, and of variants compared. Matplotlib is used without its global state."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from translator.errors import UserError
from translator.inspection.fonts import font_families
from translator.inspection.pair import PairAttention

_CELLS = (0.2, 0.36)  # inches a piece in the large picture, at least and at most
_LARGEST = 40.0  # inches: very long sentences get smaller cells
_SMALLS = (1.4, 2.6)  # inches that a picture in the grid is wide
_READ = "tab:orange"  # frames the heads that are read
_COLOURS: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest", "aspect": "auto"}


def draw_attention(attention: PairAttention, path: str | Path) -> None:
    """Write a PNG: above the mean of the chosen layer and heads, below every layer (a row) and head (a column).

    The heads that the mean is of are framed. Text is drawn as it is: ``$`` starts no formula, and installed fonts fill
    in for scripts that the usual font lacks. Raises UserError where the file cannot be written.
    """
    import matplotlib
    from matplotlib.figure import Figure

    rows, columns = len(attention.target_pieces), len(attention.source_pieces)
    n_layers, n_heads = len(attention.layers), max(map(len, attention.layers))
    cell = min(max((n_heads * _SMALLS[0] - 2.0) / columns, _CELLS[0]), _CELLS[1], _LARGEST / max(rows, columns))
    width = max(columns * cell + 3.0, n_heads * _SMALLS[0] + 1.0)
    small = min((width - 1.0) / n_heads, _SMALLS[1])
    above, below = rows * cell + 2.0, n_layers * (small * min(rows / columns, 1.5) + 0.3)
    text = "".join([*attention.source_pieces, *attention.rows])
    with matplotlib.rc_context({"font.family": font_families(text), "text.usetex": False}):
        figure = Figure(figsize=(width, above + below), layout="constrained")
        halves: Any = figure.subfigures(2, 1, height_ratios=[above, below])
        _draw_mean(halves[0].subplots(), attention, fontsize=min(9.0, cell * 72 * 0.5))
        _draw_grid(halves[1].subplots(n_layers, n_heads, squeeze=False), attention)
        save(figure, Path(path))


def draw_comparison(figures: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write a PNG with the BLEU of each variant, its spread over seeds, and the memory of a target token beside it.

    ``figures`` are those of `comparison.Variant`. Raises UserError where the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 0.5 * len(figures) + 1.6), layout="constrained")
    quality, memory = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    rows = range(len(figures))
    drawn = ("variant", "bleu", "bleu_deviation", "kv_bytes_target_token")
    names, bleu, deviation, kept = ([row[key] for row in figures] for key in drawn)
    quality.errorbar(bleu, rows, xerr=deviation, fmt="o", capsize=4)
    quality.set_yticks(rows, labels=names, parse_math=False)
    quality.invert_yaxis()
    quality.grid(axis="x", alpha=0.4)
    quality.set_xlabel("BLEU, mean and\nstandard deviation over seeds")
    memory.barh(rows, kept, color="tab:grey")
    memory.set_xlabel("bytes of keys and values\na target token")
    save(figure, Path(path))


def _draw_mean(axes: Any, attention: PairAttention, fontsize: float) -> None:
    image = axes.imshow(attention.mean().numpy(), **_COLOURS)
    plain: dict[str, Any] = {"parse_math": False, "fontsize": fontsize}
    pieces, rows = attention.source_pieces, attention.rows
    axes.set_xticks(range(len(pieces)), labels=pieces, rotation=90, **plain)
    axes.set_yticks(range(len(rows)), labels=rows, **plain)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.set_title(attention.reading_name, fontsize=11)
    axes.set_xlabel("source piece that is looked at (▁ begins a word)", fontsize=9)
    axes.set_ylabel(f"target piece that is {attention.done}", fontsize=9)
    axes.set_xticks([column - 0.5 for column in range(1, len(pieces))], minor=True)
    axes.set_yticks([row - 0.5 for row in range(1, len(rows))], minor=True)
    axes.grid(which="minor", color="0.88", linewidth=0.5)
    axes.tick_params(which="minor", length=0)
    axes.figure.colorbar(image, ax=axes, label="weight (a row sums to 1)", aspect=25, fraction=0.03)


def _draw_grid(grid: Any, attention: PairAttention) -> None:
    for layer, weights in enumerate(attention.layers):
        for head, axes in enumerate(grid[layer]):
            if head >= len(weights):
                axes.set_axis_off()
                continue
            axes.imshow(weights[head].numpy(), **_COLOURS)
            axes.set(xticks=[], yticks=[])
            axes.set_title(f"layer {layer}, head {head}", fontsize=8)
            if any(layer == place.layer and head in place.heads for place in attention.reading.places):
                axes.spines[:].set(color=_READ, linewidth=2.5)


def save(figure: Any, path: Path, dpi: int = 120) -> None:
    """Write a figure as PNG, with ``dpi`` dots an inch. Raises UserError where the file cannot be written."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # already told, in one line
            figure.savefig(path, format="png", dpi=dpi)
    except OSError as error:
        raise UserError(f"cannot write the picture {path}: {error.strerror}") from error
