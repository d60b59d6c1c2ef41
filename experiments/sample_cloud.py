"""Figure 13 of the paper: where the samples lie by capacity and energy, generation by generation."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import cocco
import workloads
from experiments.common import command, searches
from experiments.common.drawing import panels, title
from experiments.sweep.points import Point
from experiments.sweep.sweep import sweep

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTION = "How do the samples move from generation to generation (Figure 13)?"
SECONDS = command.Seconds(quick=2, full=5)
GENERATIONS, POPULATION, GROUPS = 20, 500, 10  #: Cocco, Sec. 5.3.3
KEPT = 60  #: samples of a group in the table, evenly spread; our choice: enough to draw
MARKERS = "osv^D<>pXP"  #: of the groups, which differ in lightness too


def run(
    *,
    quick: bool,
    seed: int,
    folder: Path,
    workers: int = 1,
    dask: str | None = None,
    networks: Sequence[str] | None = None,
    population: int = POPULATION,
) -> pandas.DataFrame:
    """Return some samples of each group of generations: capacity of one core, energy, cost.

    The genetic algorithm is the paper's (Settings.plain) without an elite: 20 generations of 500 genomes, shared
    buffer, alpha 0.002. mean_cost and deviation are of all samples of the group.
    """
    import pandas

    named = networks or (searches.FOUR[:1] if quick else searches.FOUR[:3])
    points = [{"network": name, "population": population, "seed": seed} for name in named]
    answers = sweep(clouded, points, folder, workers=workers, dask=dask)
    return pandas.DataFrame([{"network": p["network"], **row} for p, rows in zip(points, answers) for row in rows])


def clouded(point: Point) -> list[Point]:
    """Return the samples that are kept, with the mean and standard deviation of the cost in their group."""
    settings = replace(cocco.Settings.plain(), population=point["population"], elite=0)
    result = cocco.explore(
        workloads.load(point["network"]), alpha=searches.ALPHA, method="ga", settings=settings, seed=point["seed"],
        samples=GENERATIONS * point["population"],
    )  # fmt: skip
    points = result.points
    group = points["generation"] * GROUPS // GENERATIONS
    rows: list[Point] = []
    for number in range(GROUPS):
        members = points[group == number]
        spread = {"mean_cost": round(members["cost"].mean()), "deviation": round(members["cost"].std())}
        chosen = np.linspace(0, len(members) - 1, min(KEPT, len(members))).round().astype(int)
        for _, sample in members.iloc[chosen].iterrows():
            rows.append(
                {
                    "group": number + 1,
                    "capacity_kb": int(sample["shared_buffer_bytes"]) // 1024,
                    "energy_uj": round(sample["value"] * 1e-6, 2),
                    "cost": round(sample["cost"]),
                    **spread,
                }
            )
    return rows


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network: later groups darker, and the line of equal cost through the best sample."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(6.4, 3.4 * len(names)), 3.8)
    for each, name in zip(axes, names):
        _draw(each, table[table["network"] == name])
        each.set_title(title(name), size=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _draw(axes: Axes, table: pandas.DataFrame) -> None:
    for number, marker in enumerate(MARKERS, start=1):
        points = table[table["group"] == number]
        generations = f"generations {2 * number - 1}, {2 * number}" if number in (1, GROUPS) else None
        axes.plot(
            points["capacity_kb"], points["energy_uj"] / 1000, marker, color=f"{1 - number / GROUPS:.2f}", markersize=4,
            markeredgecolor="0.3", markeredgewidth=0.3, linewidth=0, label=generations,
        )  # fmt: skip
    shown = table["energy_uj"].quantile([0, 0.98]) / 1000
    axes.set_ylim(0.95 * shown.iloc[0], 1.02 * shown.iloc[1])
    axes.set_xlim(0, 3200)
    ends = np.array([0, 3200])
    energy_mj = (table["cost"].min() - ends * 1024) / searches.ALPHA * 1e-9
    axes.plot(ends, energy_mj, "--", color="red", linewidth=1.5, label=f"equal cost, alpha = {searches.ALPHA:g}")
    axes.set_xlabel("capacity of one core (KB)")
    axes.set_ylabel("energy (mJ)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of this script and return its exit code."""
    return command.main("sample_cloud", run, plot, question=QUESTION, seconds=SECONDS, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
