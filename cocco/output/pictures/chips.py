"""Machines by area: what their plans take, or take at least, and how long; what no machine takes less than."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter

from cocco.chips.answer import ChipsAnswer
from cocco.chips.question import QUANTITIES
from cocco.chips.table import height, panels, values_of
from cocco.output.pictures.style import SIZE_INCHES
from simulator.units import TIME

COLOURS = ("#22313f", "#4f81b0", "#c0504d", "#7a9a4c", "#f2a33a", "#8f6bb0")
MARKERS = "osD^vP*X"


def chips_figure(found: ChipsAnswer) -> Figure:
    """Return what plans take, and their time, over the area of each machine, side by side.

    Full marks are answers, hollow ones bounds: no plan takes less on that machine with the memory that promises most.
    The stairs are the front of all bounds: no machine, memory or plan lies below.
    """
    rows = sorted((row for row in found.machines if row["area_mm2"] is not None), key=lambda row: row["area_mm2"])
    names = panels(found.question.criterion)
    figure = Figure(figsize=(0.8 * len(names) * SIZE_INCHES[0], 1.1 * SIZE_INCHES[1]), layout="constrained")
    kinds = [[f"{name} {each}" for each in values_of(rows, name)] for name in found.question_axes[:2]]
    kinds += [[""]] * (2 - len(kinds))
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names):
        quantity = TIME if name == "least_ms" else QUANTITIES[found.question.criterion]
        scale = 1e6 if name == "least_ms" else 1.0  # of the quantity's own unit
        unit = quantity.unit(*(scale * height(row, name) for row in rows))
        scale /= unit.size
        for row in rows:
            colour, marker = _look(found, row, kinds)
            axes.plot(row["area_mm2"], scale * height(row, name), color=colour, marker=marker, markersize=5,
                      fillstyle="none" if row["cost"] is None else "full", linestyle="none")  # fmt: skip
            if row["verdict"] == "best":
                axes.plot(row["area_mm2"], scale * height(row, name), "o", ms=13, color="black", fillstyle="none")
        across, up = zip(*found.floors[name])
        most = max(row["area_mm2"] for row in rows)
        axes.step([*across, most], [scale * each for each in (*up, up[-1])], where="post", color="0.4", linewidth=1)
        _scales(axes)
        if name == "least":
            _equal(axes, found, scale)
        axes.set_ylabel(f"{'latency' if name == 'least_ms' else found.question.criterion} ({unit.name})")
    figure.legend(handles=_keys(found, kinds), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(f"{' + '.join(each.name for each in found.question.networks)}: machines", size=10, parse_math=False)
    return figure


def _equal(axes: Axes, found: ChipsAnswer, scale: float) -> None:
    """Draw what costs as much as the answer where a mm2 is worth something, within the picture."""
    worth = found.question.worth
    if worth is None or worth.each != "area" or not math.isfinite(found.cost):
        return
    (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    x = np.geomspace(low, high, 200)
    y = scale * (found.cost - worth.number * x)
    seen = (y >= bottom) & (y <= top)
    axes.plot(x[seen], y[seen], "--", color="0.6", linewidth=1, zorder=1)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)


def _scales(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    for each in (axes.xaxis, axes.yaxis):
        each.set_major_formatter("{x:g}")
        each.set_minor_formatter(_Few())
    axes.set_xlabel("chip (mm2)")
    axes.grid(which="both", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)


class _Few(LogFormatter):
    """Numbers at some of the lines between powers of ten, as they are written."""

    def __init__(self) -> None:
        super().__init__(minor_thresholds=(2, 0.7))

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _keys(found: ChipsAnswer, kinds: list[list[str]]) -> list[Line2D]:
    marks = [_mark("o", COLOURS[i % len(COLOURS)], each) for i, each in enumerate(kinds[0]) if each]
    marks += [_mark(MARKERS[i % len(MARKERS)], "0.5", each) for i, each in enumerate(kinds[1]) if each]
    marks.append(_mark("o", "black", "the answer", fillstyle="none", markersize=11))
    if any(row["cost"] is None for row in found.machines):
        marks.append(_mark("o", "black", "hollow: at least so much", fillstyle="none"))
    marks.append(Line2D([], [], color="0.4", linewidth=1, label="no machine is below"))
    if found.question.worth is not None and found.question.worth.each == "area":
        marks.append(Line2D([], [], color="0.6", linestyle="--", linewidth=1, label="costs as much as the answer"))
    return marks


def _mark(marker: str, colour: str, label: str, **how: Any) -> Line2D:
    return Line2D([], [], marker=marker, color=colour, linestyle="none", label=label, **how)


def _look(found: ChipsAnswer, row: Mapping[str, Any], kinds: list[list[str]]) -> tuple[str, str]:
    """Return the colour and the mark of a machine, by the first two axes that machines differ in."""
    colour, mark = (kinds[i].index(_kind(found, row, i)) for i in range(2))
    return COLOURS[colour % len(COLOURS)], MARKERS[mark % len(MARKERS)]


def _kind(found: ChipsAnswer, row: Mapping[str, Any], i: int) -> str:
    """Return the value of one of the axes that machines differ in, as a legend has it; "" where there are fewer."""
    names = found.question_axes
    return f"{names[i]} {row[names[i]]}" if i < len(names) else ""
