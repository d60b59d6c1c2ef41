"""Pictures of a search: cost against samples, and the samples in the capacity-energy plane (Cocco, Fig. 12 and 13).

Of a proof, whose few points are the optima of the sizes that it solved, the same with larger marks. Drawn without
pyplot, so that nothing global changes. Later is darker, so both read without colour too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from cocco.output.text.layout.numbers import buffer_columns
from cocco.problem.criteria import CRITERIA
from simulator.units import KB, Unit

if TYPE_CHECKING:
    import pandas

from cocco.exploration.answers.ranges import MARGINS, band_edges
from cocco.exploration.answers.result import Result
from cocco.output.pictures.style import legend_below, plot_figure

GROUPS = 10  #: colours, each for a tenth of the generations (Cocco, Sec. 5.3.3)
COLOURS = "YlGnBu"  #: light to dark
VISIBLE = 0.98  #: share of the samples that an axis shows; our choice: a few bad ones would squeeze all others
MILLION = Unit("million", 1e6, 0.0)  #: of costs, which are bytes and parts of an energy
SHADES = ("0.82", "0.92")  #: of the margins
FEW = 100  #: points up to which each is drawn large; our choice
MANY = 20_000  #: points up to which each is drawn; our choice: beyond, half a million take 10 s
PICTURE_CELLS = 1000  #: of each axis; of more than MANY points the last one in each is drawn


def cost_figure(result: Result, axes: Axes | None = None) -> Figure:
    """Return the cost of every sample and of the best so far (Cocco, Fig. 12); of a proof that of every size solved.

    axes: of a picture of yours, to be drawn in.
    """
    is_panel = axes is not None
    figure, axes = plot_figure(_title(result), axes)
    points = result.points
    scale = MILLION if result.alpha is not None else CRITERIA[result.metric].quantity.unit(result.cost)
    axes.scatter(
        points["sample"], points["cost"] / scale.size, s=3 if len(points) > FEW else 36, color="0.7", linewidths=0,
        rasterized=True, label="a size solved" if _is_proof(result) else "a sample",
    )  # fmt: skip
    axes.step(points["sample"], points["best_cost"] / scale.size, where="post", color="black", label="best so far")
    unit = CRITERIA[result.metric]
    axes.set_xlabel("sizes in the order in which they were solved" if _is_proof(result) else "samples")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if result.alpha is None:
        axes.set_ylabel(f"{unit.title} ({scale.name})")
    else:
        whose = " of all cores" if result.count == "all" else ""
        axes.set_ylabel(f"cost (million) = bytes{whose} + {result.alpha:g} x {unit.title} ({unit.unit})")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if result.cost < points["cost"].min():
        label = "proved optimum" if result.status == "optimal" else "the answer, improved afterwards"
        axes.axhline(result.cost / scale.size, color="black", linestyle=":", label=label)
    _limit(axes.set_ylim, points["cost"] / scale.size, result.cost / scale.size)
    last = int(points["sample"].max())
    axes.set_xlim((0.5, last + 0.5) if _is_proof(result) else (0, last))  # it ends where the samples do
    legend_below(axes, is_panel=is_panel)
    return figure


def plane_figure(result: Result, axes: Axes | None = None) -> Figure:
    """Return the samples by capacity and metric, later generations darker, with the line of equal cost (Fig. 13).

    axes: of a picture of yours, to be drawn in.
    """
    is_panel = axes is not None
    figure, axes = plot_figure(_title(result), axes)
    points, unit = result.points, _unit(result)
    capacity, value = points[buffer_columns(points.columns)].sum(axis=1) / KB, points["value"] / unit.size
    last = max(int(points["generation"].max()), 1)
    edges = np.unique(np.linspace(0, last + 1, min(GROUPS, last + 1) + 1).round())
    seen = _on_top(capacity.to_numpy(), value.to_numpy())
    drawn = axes.scatter(
        capacity.iloc[seen], value.iloc[seen], c=points["generation"].iloc[seen],
        cmap=COLOURS, norm=BoundaryNorm(edges, 256, extend="neither"),
        s=8 if len(points) > FEW else 36, linewidths=0.2 if len(points) > FEW else 1, edgecolors="0.5",
        rasterized=True, label="optimum of a size" if _is_proof(result) else None,
    )  # fmt: skip
    _shade(axes, result)
    if not _is_proof(result):
        figure.colorbar(drawn, ax=axes, label="generation")
    best_capacity, best_value = (
        result.accelerator.buffer_bytes / KB,
        result.objective.judged(result.evaluations) / unit.size,
    )
    if _is_proof(result):
        capacity, value = _with_others(result, capacity, value)
    _limit(axes.set_ylim, value, best_value)
    axes.set_xlim(0, float(capacity.max()) * 1.05)
    if result.alpha:
        ends = np.array(axes.get_xlim())
        cores = result.accelerator.cores if result.count == "all" else 1
        line = (result.cost - ends * KB * cores) / result.alpha / unit.size
        axes.plot(ends, line, "--", color="red", linewidth=1.2, label=f"equal cost, alpha = {result.alpha:g}")
    label = "proved optimum" if result.status == "optimal" else "best"
    axes.plot(
        best_capacity, best_value, "*", markersize=15, color="black", markeredgecolor="white", label=label, zorder=3
    )
    axes.set_xlabel("capacity of one core (KB)")
    axes.set_ylabel(f"{CRITERIA[result.metric].title} ({unit.name})")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    legend_below(axes, is_panel=is_panel)
    return figure


def _on_top(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the positions of the points that can be seen where later ones are drawn over earlier ones, ascending."""
    if len(x) <= MANY:
        return np.arange(len(x))
    cells = []
    for values, high in ((x, x.max()), (y, np.quantile(y[np.isfinite(y)], VISIBLE, method="lower"))):
        scale = PICTURE_CELLS / max(high - values.min(), 1e-300)
        cells.append(
            np.minimum((values - values.min()) * scale, 2 * PICTURE_CELLS).astype(np.int64)
        )  # an axis has some margin
    _, last = np.unique((cells[0] * (2 * PICTURE_CELLS + 1) + cells[1])[::-1], return_index=True)
    return np.sort(len(x) - 1 - last)


def _with_others(result: Result, capacity: pandas.Series, value: pandas.Series) -> tuple[pandas.Series, pandas.Series]:
    """Return the sizes (KB) and what is known of them with those that were priced in addition to the search."""
    import pandas

    priced = [
        each for each in (result.ranges.candidates if result.ranges is not None else ()) if each.value is not None
    ]
    sizes = [each.size_bytes / KB for each in priced]
    values = [float(each.value or 0.0) / _unit(result).size for each in priced]
    return pandas.concat([capacity, pandas.Series(sizes)]), pandas.concat([value, pandas.Series(values)])


def _shade(axes: Axes, result: Result) -> None:
    """Mark the best that is known of each size, shade those within the margins, hatch the open ones.

    Of two buffers the margins are the room between lines of equal cost.
    A band reaches half way to its neighbours, so that one size can be seen.
    """
    ranges = result.ranges
    if ranges is None:
        return
    known = [(each.size_bytes / KB, each.value) for each in ranges.candidates if each.value is not None]
    values = np.array([value for _, value in known]) / _unit(result).size
    axes.plot([size for size, _ in known], values, ".", color="0.35", markersize=4, label="best known of a size")
    if not ranges.is_one_buffer:
        if result.alpha:
            ends = np.array([0.0, 1.1 * max(each.size_bytes for each in ranges.candidates)])
            scale = 1 / result.alpha / _unit(result).size
            for margin, shade in reversed([*zip(MARGINS, SHADES)]):
                low, high = (result.cost - ends) * scale, (ranges.most(margin) - ends) * scale
                name = f"{margin:.0%} more"
                axes.fill_between(ends / KB, low, high, color=shade, zorder=0, linewidth=0, label=name)
        return
    sizes = [each.size_bytes for each in ranges.candidates]
    for margin, shade in reversed([*zip(MARGINS, SHADES)]):
        label: str | None = f"at most {margin:.0%} more, proved"
        for band in ranges.bands(margin):
            if band.kind == "within":
                axes.axvspan(*band_edges(sizes, band), color=shade, zorder=0, linewidth=0, label=label)
                label = None
    label = "open"
    for band in ranges.bands(MARGINS[-1]):
        if band.kind == "open":
            edges = band_edges(sizes, band)
            axes.axvspan(*edges, facecolor="none", edgecolor="0.8", hatch="//", zorder=0, linewidth=0, label=label)
            label = None


def _title(result: Result) -> str:
    """Return what a picture is of, and what it leaves out."""
    networks = " + ".join(plan.network_name for plan in result.plans)
    title = f"{networks}: {len(result.points):,} {'sizes solved' if _is_proof(result) else 'samples'}"
    if len(result.points) > FEW:
        title += f", of which the worst {1 - VISIBLE:.0%} lie higher"
    return title


def _unit(result: Result) -> Unit:
    """Return the unit of the metric that the answer is read in."""
    return CRITERIA[result.metric].quantity.unit(result.objective.judged(result.evaluations))


def _is_proof(result: Result) -> bool:
    """Whether the points are the optima of the sizes that the exact search with kept tensors solved."""
    return result.method == "exact" and len(result.history) == 1 and result.keep == "auto"


def _limit(set_limits: Callable[[float, float], object], values: pandas.Series, best: float) -> None:
    """Show the best and all values with a margin; of many all but the few worst."""
    highest = values.quantile(VISIBLE) if len(values) > FEW else values.max()
    low, high = min(best, float(values.min())), max(best, float(highest))
    margin = 0.06 * (high - low) or 0.05 * high or 1.0
    set_limits(low - margin, high + margin)
