"""Energy, latency and memory over the number of cores."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from cocco.exploration.cores import CoresAxis
from cocco.output.pictures.style import SIZE_INCHES
from simulator.units import ENERGY, KB, TIME


def cores_figure(axis: CoresAxis) -> Figure:
    """Return three pictures side by side: energy, latency, and the buffers of one core and of all."""
    rows = sorted((row for row in axis.rows() if row["energy_pj"] is not None), key=lambda row: int(row["cores"]))
    if not rows:
        raise ValueError("a picture over cores needs a number of cores on which a plan runs")
    figure = Figure(figsize=(1.7 * SIZE_INCHES[0], 0.8 * SIZE_INCHES[1]), layout="constrained")
    energy, latency, memory = figure.subplots(1, 3)
    clock = axis.results[0].accelerator.technology.clock_ghz
    for axes, name, quantity, unit_size in ((energy, "energy", ENERGY, 1.0), (latency, "latency", TIME, clock)):
        column = "energy_pj" if name == "energy" else "latency_cycles"
        unit = quantity.unit(*(row[column] / unit_size for row in rows))
        _line(axes, rows, column, 1 / unit_size / unit.size, "", "o-")
        axes.set_ylabel(f"{name} ({unit.name})")
    _line(memory, rows, "capacity_bytes", 1 / KB, "of one core", "o-")
    _line(memory, rows, "capacity_all_bytes", 1 / KB, "of all cores", "s--")
    memory.set_ylabel("buffers (KB)")
    memory.legend(loc="best", fontsize=8)
    counts = [row["cores"] for row in rows]
    for axes in (energy, latency, memory):
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("cores")
        axes.set_ylim(0, 1.1 * axes.get_ylim()[1])
        axes.grid(color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
    names = " + ".join(plan.network_name for plan in axis.results[0].plans)
    figure.suptitle(f"{names}: the memory to build, by cores", size=10, parse_math=False)
    return figure


def _line(axes: Axes, rows: list[dict[str, Any]], column: str, scale: float, label: str, style: str) -> None:
    counts, values = [row["cores"] for row in rows], [row[column] * scale for row in rows]
    axes.plot(counts, values, style, color="black", label=label, markersize=5, linewidth=1)
