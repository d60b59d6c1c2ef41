"""The front between two things that should be small, such as capacity and energy, of one run or several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from cocco.exploration.answers.result import Result
from cocco.output.pictures.style import legend_below, plot_figure
from cocco.output.text.layout.numbers import buffer_columns
from cocco.problem.criteria import CRITERIA
from cocco.problem.dominance import non_dominated

if TYPE_CHECKING:
    import pandas

LINES = (
    ("#000000", "-", "o"),
    ("#1f6fb2", "--", "s"),
    ("#c2562d", "-.", "^"),
    ("#5a8f3c", ":", "D"),
    ("0.45", "-", "v"),
)
SHARE_SHOWN = (
    0.98  #: share of the dominated points that the axes show; our choice: a few bad ones would squeeze all others
)
DIMMED = 0.3  #: share of the colour in a dominated point; the rest is white
ROOM = 1.6  #: the largest value shown is at most so many times that of the front


def front_figure(
    runs: Mapping[str, pandas.DataFrame],
    x: str = "capacity",
    y: str = "energy",
    *,
    best: tuple[float, float] | None = None,
    title: str = "",
    axes: Axes | None = None,
) -> Figure:
    """Return all points of each run, the dominated ones dimmed, with its front as a staircase.

    runs: label -> a frame with the columns x and y in the units of the model: bytes, pJ, cycles, mm2, bytes per
    cycle. best: the point to recommend, in the same units. axes: of a picture of yours, to be drawn in.
    """
    if not runs or any(frame.empty for frame in runs.values()):
        raise ValueError("a picture of the front needs a run, and a point in each")
    is_panel = axes is not None
    figure, axes = plot_figure(title, axes)
    units = [CRITERIA[name].quantity.unit(*(frame[name].median() for frame in runs.values())) for name in (x, y)]
    planes = {
        label: (frame[x].to_numpy() / units[0].size, frame[y].to_numpy() / units[1].size)
        for label, frame in runs.items()
    }
    _limit(axes, list(planes.values()))
    for position, (label, (across, up)) in enumerate(planes.items()):
        _draw(axes, label, across, up, LINES[position % len(LINES)])
    if best is not None:
        star = best[0] / units[0].size, best[1] / units[1].size
        label = f"recommended: {star[0]:,.4g} {units[0].name}, {star[1]:,.4g} {units[1].name}"
        axes.plot(*star, "*", markersize=17, color="black", markeredgecolor="white", label=label, zorder=5)
    axes.set_xlabel(f"{CRITERIA[x].title} ({units[0].name})")
    axes.set_ylabel(f"{CRITERIA[y].title} ({units[1].name})")
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_view_interval()[1] >= 1000:
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    legend_below(axes, 1 if is_panel else 2, is_panel)
    return figure


def plane(result: Result) -> pandas.DataFrame:
    """Return the samples of a search as columns "capacity", bytes of one core, and the metric by its name."""
    import pandas

    points = result.points
    capacity = points[buffer_columns(points.columns)].sum(axis=1)
    return pandas.DataFrame({"capacity": capacity, result.metric: points["value"]})


def _draw(axes: Axes, label: str, across: np.ndarray, up: np.ndarray, line: tuple[str, str, str]) -> None:
    """Draw one run: its points dimmed, its front, and the sides that the front goes on to."""
    colour, style, marker = line
    front = non_dominated(across, up)
    others = np.setdiff1d(np.arange(len(across)), front)
    axes.plot(across[others], up[others], marker, color=_dimmed(colour), markersize=2, linewidth=0, rasterized=True)
    right, top = axes.get_xlim()[1], axes.get_ylim()[1]
    steps = (
        np.concatenate(([across[front[0]]], across[front], [right])),
        np.concatenate(([top], up[front], [up[front[-1]]])),
    )
    axes.plot(*steps, style, color=colour, drawstyle="steps-post", linewidth=1.2, zorder=3)
    name = f"{label}: {len(front)} of {len(across):,} points on the front"
    axes.plot(
        across[front], up[front], marker, color=colour, markersize=5, markeredgecolor="white", markeredgewidth=0.4,
        linestyle=style, linewidth=0, label=name, zorder=4,
    )  # fmt: skip


def _dimmed(colour: str) -> tuple[float, ...]:
    return tuple(1 - DIMMED * (1 - part) for part in to_rgb(colour))


def _limit(axes: Axes, planes: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Show every front, and all but the few worst of the other points."""
    for set_limits, which in ((axes.set_xlim, 0), (axes.set_ylim, 1)):
        fronts = np.concatenate([plane[which][non_dominated(*plane)] for plane in planes])
        shown = max(float(np.quantile(plane[which], SHARE_SHOWN)) for plane in planes)
        high = max(float(fronts.max()), min(shown, ROOM * float(fronts.max())))
        low = float(fronts.min())
        margin = 0.06 * (high - low) or 0.05 * high or 1.0
        set_limits(max(0.0, low - margin) if which == 0 else low - margin, high + margin)
