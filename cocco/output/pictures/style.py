"""What all pictures share: units of the axes, fills that differ without colour, sizes."""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

SIZE_INCHES = (6.4, 4.2)
WIDEST_INCHES = 16.0
MANY_BARS = 60  #: bars up to which each has an edge and a hatch; our choice: more are too narrow to show them


class Fill(NamedTuple):
    """A grey or a colour of its own lightness, and a hatch, so that bars differ on paper too."""

    colour: str
    hatch: str


FILLS = (
    Fill("#22313f", ""),
    Fill("#4f81b0", "..."),
    Fill("#9fc5d8", "///"),
    Fill("#f2d398", "\\\\\\"),
    Fill("#fbf6ea", "xxx"),
)
MORE_FILLS = (
    Fill("#c0504d", "++"), Fill("#8f8f8f", "oo"), Fill("#7a9a4c", "xx"), Fill("#d9b3d9", "--"),
)  # fmt: skip  #: of bars with more parts, on top: what grows with time


def bar_figure(bars: int, title: str, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return an empty picture for this many bars side by side, with the axes one above the other."""
    width = min(WIDEST_INCHES, max(SIZE_INCHES[0], 2.0 + 0.16 * bars))
    figure = Figure(figsize=(width, SIZE_INCHES[1] * (1 + 0.6 * (rows - 1))), layout="constrained")
    axes = list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    axes[0].set_title(title, size=10, parse_math=False)  # a name may have dollar signs
    for each in axes:
        each.grid(axis="y", color="0.9", linewidth=0.6)
        each.set_axisbelow(True)
        each.set_xlim(-0.6, bars - 0.4)
        each.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure, axes


def plot_figure(title: str, given: Axes | None = None) -> tuple[Figure, Axes]:
    """Return an empty picture of one plot, or the plot of a larger picture that is given in its place."""
    axes = given or Figure(figsize=SIZE_INCHES, layout="constrained").add_subplot()
    axes.set_title(title, size=10, parse_math=False)  # a name may have dollar signs
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure, axes


def legend_below(axes: Axes, columns: int = 3, is_panel: bool = False) -> None:
    """Put the legend of a picture under it, where it covers no point, or into a panel of a larger picture.

    Labels are texts, not formulas.
    """
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    handles, labels = axes.get_legend_handles_labels()
    how: dict[str, Any] = {"ncols": min(columns, len(labels)), "fontsize": 8, "frameon": False}
    if is_panel:
        legend = axes.legend(handles, labels, loc="best", **how)
    else:
        legend = figure.legend(handles, labels, loc="outside lower center", **how)
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name may have dollar signs
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([25.0])  # however small the samples are


def stack(axes: Axes, parts: dict[str, list[float]], fills: tuple[Fill, ...]) -> None:
    """Draw bars 0, 1, 2, ... of stacked parts; with few bars each has an edge and a hatch."""
    count = len(next(iter(parts.values())))
    few = count <= MANY_BARS
    bottom = [0.0] * count
    for (label, heights), fill in zip(parts.items(), fills):
        axes.bar(
            range(count), heights, 0.8 if few else 1.0, bottom=bottom, label=label, color=fill.colour,
            edgecolor="black" if few else "none", linewidth=0.5 if few else 0, hatch=fill.hatch if few else "",
        )  # fmt: skip
        bottom = [low + height for low, height in zip(bottom, heights)]
