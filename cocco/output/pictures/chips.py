"""Machines by area: what their best answer, or bound, costs and how long it takes."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.figure import Figure

from cocco.chips.answer import ChipsAnswer
from cocco.output.pictures.style import SIZE_INCHES
from simulator.units import ENERGY

COLOURS = ("#22313f", "#4f81b0", "#c0504d", "#7a9a4c", "#f2a33a", "#8f6bb0")
MARKERS = "osD^vP*X"


def chips_figure(found: ChipsAnswer) -> Figure:
    """Return two pictures side by side: bound over area of all machines, energy over latency of those answered."""
    rows = [row for row in found.machines if row["bound"] is not None]
    figure = Figure(figsize=(1.5 * SIZE_INCHES[0], SIZE_INCHES[1]), layout="constrained")
    by_area, by_time = figure.subplots(1, 2)
    axes = [name for name in found.machines[0] if name in found.question_axes]
    kinds = sorted({_kind(row, axes[:1]) for row in rows}, key=str)
    shapes = sorted({_kind(row, axes[1:2]) for row in rows}, key=str)
    for row in rows:
        colour = COLOURS[kinds.index(_kind(row, axes[:1])) % len(COLOURS)]
        marker = MARKERS[shapes.index(_kind(row, axes[1:2])) % len(MARKERS)]
        style = {"color": colour, "marker": marker, "markersize": 5, "linestyle": "none"}
        is_answered = row["cost"] is not None
        by_area.plot(row["area_mm2"], row["bound"], fillstyle="full" if is_answered else "none", **style)
        if is_answered:
            by_time.plot(row["latency_ms"], row["energy_pj"] / ENERGY.sizes["mJ"], **style)
    best = found.machines[0]
    if best["cost"] is not None:
        ring = {"marker": "o", "markersize": 13, "color": "black", "fillstyle": "none", "linestyle": "none"}
        by_area.plot(best["area_mm2"], best["bound"], label="best", **ring)
        by_time.plot(best["latency_ms"], best["energy_pj"] / ENERGY.sizes["mJ"], **ring)
    for kind, colour in zip(kinds, COLOURS):
        by_area.plot(math.nan, math.nan, "o", color=colour, label=f"{axes[0]} {kind}" if axes else "machines")
    for shape, marker in zip(shapes if len(axes) > 1 else (), MARKERS):
        by_area.plot(math.nan, math.nan, marker, color="0.5", label=f"{axes[1]} {shape}")
    by_area.set(xlabel="chip (mm2)", ylabel=f"{found.question.criterion}, with what the chip is worth: least possible")
    by_time.set(xlabel="latency (ms)", ylabel="energy (mJ)")
    by_area.legend(loc="best", fontsize=7)
    for each in (by_area, by_time):
        each.grid(color="0.9", linewidth=0.6)
        each.set_axisbelow(True)
    figure.suptitle(f"{' + '.join(each.name for each in found.question.networks)}: machines", size=10, parse_math=False)
    return figure


def _kind(row: dict[str, Any], names: list[str]) -> object:
    return row[names[0]] if names else ""
