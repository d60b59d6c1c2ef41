"""Machines by area: what their best answer, or bound, costs and how long it takes."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter

from cocco.chips.answer import ChipsAnswer
from cocco.chips.question import QUANTITIES
from cocco.output.pictures.style import SIZE_INCHES

COLOURS = ("#22313f", "#4f81b0", "#c0504d", "#7a9a4c", "#f2a33a", "#8f6bb0")
MARKERS = "osD^vP*X"


def chips_figure(found: ChipsAnswer) -> Figure:
    """Return two pictures side by side: what plans take at least, and their time, over the area of each machine.

    A hollow mark is a bound: no plan of that machine takes less. Full marks are answers.
    """
    rows = [row for row in found.machines if row["bound"] is not None]
    figure = Figure(figsize=(1.6 * SIZE_INCHES[0], SIZE_INCHES[1]), layout="constrained")
    sides = list(figure.subplots(1, 2))
    quantity = QUANTITIES[found.question.criterion]
    unit = quantity.unit(*(row["least"] for row in rows))
    colours, shapes = (_kinds(found, rows, i) for i in range(2))
    for axes, name, size in zip(sides, ("least", "least_ms"), (unit.size, 1.0)):
        for row in rows:
            is_answered = row["cost"] is not None
            value = (row["latency_ms"] if is_answered and name == "least_ms" else row[name]) / size
            axes.plot(
                row["area_mm2"], value, fillstyle="full" if is_answered else "none", markersize=5, linestyle="none",
                color=COLOURS[colours.index(_kind(found, row, 0)) % len(COLOURS)],
                marker=MARKERS[shapes.index(_kind(found, row, 1)) % len(MARKERS)],
            )  # fmt: skip
            if row["verdict"] == "best":
                axes.plot(row["area_mm2"], value, "o", markersize=13, color="black", fillstyle="none")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for each in (axes.xaxis, axes.yaxis):
            each.set_major_formatter("{x:g}")
            each.set_minor_formatter(_Few())
        axes.set_xlabel("chip (mm2)")
        axes.grid(which="both", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
    sides[0].set_ylabel(f"{found.question.criterion} ({unit.name})")
    sides[1].set_ylabel("latency (ms)")
    marks = [Line2D([], [], marker="o", color=COLOURS[i % len(COLOURS)], linestyle="none", label=each)
             for i, each in enumerate(colours) if each]  # fmt: skip
    marks += [Line2D([], [], marker=MARKERS[i % len(MARKERS)], color="0.5", linestyle="none", label=each)
              for i, each in enumerate(shapes) if each]  # fmt: skip
    marks.append(Line2D([], [], marker="o", markersize=11, color="black", fillstyle="none", linestyle="none",
                        label="the answer; hollow: bounds of the others"))  # fmt: skip
    figure.legend(handles=marks, loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(f"{' + '.join(each.name for each in found.question.networks)}: machines", size=10, parse_math=False)
    return figure


class _Few(LogFormatter):
    """Numbers at some of the lines between powers of ten, as they are written."""

    def __init__(self) -> None:
        super().__init__(minor_thresholds=(2, 0.7))

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _kinds(found: ChipsAnswer, rows: list[dict[str, Any]], i: int) -> list[str]:
    return list(dict.fromkeys(_kind(found, row, i) for row in sorted(rows, key=lambda row: row["area_mm2"])))


def _kind(found: ChipsAnswer, row: dict[str, Any], i: int) -> str:
    """Return the value of one of the axes that machines differ in, as a legend has it; "" where there are fewer."""
    names = found.question_axes
    return f"{names[i]} {row[names[i]]}" if i < len(names) else ""
