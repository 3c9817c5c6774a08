"""Pictures of attention. Matplotlib is imported here and in `head_plots` alone, without its global state."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translator.errors import UserError
from translator.inspection.pair import PairAttention

if TYPE_CHECKING:
    from matplotlib.axes import Axes

log = logging.getLogger(__name__)

_CELL = 0.3  # inches a piece in the large picture
_LARGEST = 40.0  # inches: longer sentences get smaller cells
_SMALL = 1.4  # inches of a picture in the grid
_COLOURS: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest", "aspect": "auto"}


def draw_attention(attention: PairAttention, path: str | Path) -> None:
    """Write a PNG: above the mean of the chosen layer and heads, below every layer (a row) and head (a column).

    Text is drawn as it is: ``$`` starts no formula, and installed fonts fill in for scripts that the usual font
    lacks. Raises UserError where the file cannot be written.
    """
    import matplotlib
    from matplotlib.figure import Figure

    rows, columns = len(attention.target_pieces), len(attention.source_pieces)
    n_layers, n_heads = len(attention.layers), max(map(len, attention.layers))
    cell = min(_CELL, _LARGEST / max(rows, columns))
    above = (columns * cell + 3.0, rows * cell + 2.5)
    below = (n_heads * _SMALL + 1.0, n_layers * _SMALL)
    text = "".join([attention.source, attention.target, *attention.source_pieces, *attention.target_pieces])
    with matplotlib.rc_context({"font.family": font_families(text), "text.usetex": False}):
        figure = Figure(figsize=(max(above[0], below[0]), above[1] + below[1]), layout="constrained")
        halves: Any = figure.subfigures(2, 1, height_ratios=[above[1], below[1]])
        _draw_mean(halves[0].subplots(), attention, fontsize=min(9.0, cell * 72 * 0.45))
        _draw_grid(halves[1].subplots(n_layers, n_heads, squeeze=False), attention.layers)
        save(figure, Path(path))


def draw_comparison(figures: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write a PNG with the BLEU of each variant, its spread over seeds, and the memory of a target token beside it.

    ``figures`` are those of `comparison.Variant`. Raises UserError where the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 0.5 * len(figures) + 1.6), layout="constrained")
    quality, memory = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    rows = range(len(figures))
    quality.errorbar(
        [row["bleu"] for row in figures], rows, xerr=[row["bleu_deviation"] for row in figures], fmt="o", capsize=4
    )
    quality.set_yticks(rows, labels=[row["variant"] for row in figures], parse_math=False)
    quality.invert_yaxis()
    quality.grid(axis="x", alpha=0.4)
    quality.set_xlabel("BLEU, mean and standard deviation over seeds")
    memory.barh(rows, [row["kv_bytes_target_token"] for row in figures], color="tab:grey")
    memory.set_xlabel("bytes of keys and values a target token")
    save(figure, Path(path))


def font_families(text: str) -> list[str]:
    """The usual font, and as many installed ones as it takes for the characters that it lacks."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    families = ["DejaVu Sans"]
    missing = set(map(ord, text)) - FT2Font(font_manager.findfont(families[0])).get_charmap().keys()
    missing = {code for code in missing if chr(code).isprintable()}
    for entry in font_manager.fontManager.ttflist if missing else []:
        found = missing & FT2Font(entry.fname).get_charmap().keys()
        if found and entry.style == "normal":
            families.append(entry.name)
            missing -= found
        if not missing:
            break
    if missing:
        log.warning("no installed font shows %s: the picture has boxes there", "".join(map(chr, sorted(missing))))
    return families


def _draw_mean(axes: "Axes", attention: PairAttention, fontsize: float) -> None:
    image = axes.imshow(attention.mean().numpy(), **_COLOURS)
    plain: dict[str, Any] = {"parse_math": False, "fontsize": fontsize}
    _label(axes.xaxis, attention.source_pieces, {**plain, "rotation": 90})
    _label(axes.yaxis, attention.target_pieces, plain)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_title(f"cross-attention of {attention.reading}", fontsize=10)
    axes.set_ylabel("target piece written", fontsize=9)
    axes.figure.colorbar(image, ax=axes, label="weight (a row sums to 1)", shrink=0.8)


def _label(axis: Any, names: Sequence[str], style: dict[str, Any]) -> None:
    axis.set_ticks(range(len(names)), labels=names, **style)


def _draw_grid(grid: Any, layers: Sequence[Any]) -> None:
    for layer, weights in enumerate(layers):
        for head, axes in enumerate(grid[layer]):
            if head >= len(weights):
                axes.set_axis_off()
                continue
            axes.imshow(weights[head].numpy(), **_COLOURS)
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_title(f"layer {layer}, head {head}", fontsize=7)


def save(figure: Any, path: Path) -> None:
    """Write a figure as PNG. Raises UserError where the file cannot be written."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing")  # already told, in one line
            figure.savefig(path, format="png", dpi=120)
    except OSError as error:
        raise UserError(f"cannot write the picture {path}: {error.strerror}") from error
