"""Figure 13 of the paper: where the samples lie by capacity and energy, generation by generation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.output.pictures.search import COLOURS
from experiments.common import command, searches
from experiments.common.drawing import panels, say_none, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point

GENERATIONS, SAMPLES, GROUPS = 20, 10_000, 10  #: Cocco, Sec. 5.3.3
SAMPLES_KEPT = 60  #: samples of a group in the table, evenly spread; our choice: enough to draw
NOT_DRAWN = 0.02  #: of the samples, those that take the most energy; our choice: they would flatten the others
MARKERS = "osv^D<>pXP"  #: of the groups, which differ in lightness too


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int, case: Mapping[str, Any]) -> list[Point]:
    """Return some samples of each group of generations: capacity of one core, energy, cost.

    The genetic algorithm is the paper's (Settings.paper), with 20 generations of 500 genomes; shared buffer, alpha
    0.002. mean_cost and deviation are of all samples of the group that run; those that do not have no numbers.
    """
    points = [{"network": name, "population": samples // GENERATIONS, "seed": seed, **case} for name in networks]
    return [{"network": each["network"], **row} for each in compute(clouded, points) for row in each["rows"]]


def check(settings: Mapping[str, Any]) -> None:
    """Raise ValueError where the samples are not so many whole generations."""
    if settings["samples"] % GENERATIONS:
        raise ValueError(f"samples must be {GENERATIONS} whole generations; got {settings['samples']}")


def clouded(point: Point) -> Point:
    """Return the samples that are kept, with the mean and standard deviation of the cost in their group."""
    result = cocco.explore(
        workloads.load(point["network"]), space=searches.space_of(point), method="paper", keep=point.get("keep"),
        alpha=point.get("alpha", searches.ALPHA), settings=cocco.Settings.paper(point["population"]),
        seed=point["seed"], samples=GENERATIONS * point["population"], ranges=False, **searches.machine(point),
    )  # fmt: skip
    buffers = [str(name) for name in result.points if str(name).endswith("_buffer_bytes")]
    points = result.points
    group = points["generation"] * GROUPS // GENERATIONS
    kept: list[Point] = []
    for number in range(GROUPS):
        members = points[group == number]
        costs = members["cost"][np.isfinite(members["cost"])]
        spread = {"mean_cost": _rounded(costs.mean()), "deviation": _rounded(costs.std())}
        chosen = np.linspace(0, len(members) - 1, min(SAMPLES_KEPT, len(members))).round().astype(int)
        for _, sample in members.iloc[chosen].iterrows():
            kept.append(
                {
                    "group": number + 1,
                    "capacity_kb": searches.kb(int(sample[buffers].sum())),
                    "energy_uj": _rounded(sample["value"] * 1e-6, 2),
                    "cost": _rounded(sample["cost"]),
                    **spread,
                }
            )
    return {"rows": kept}


def _rounded(value: float, digits: int | None = None) -> float | None:
    """Return a rounded number, None for one that is not finite."""
    return round(value, digits) if math.isfinite(value) else None


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network: later groups darker, and the line of equal cost through the best sample."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(6.4, 3.4 * len(names)), 3.8)
    for each, name in zip(axes, names):
        _draw(each, table[table["network"] == name])
        each.set_title(title(name), size=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(f"Not drawn: the {NOT_DRAWN:.0%} of the samples that take the most energy", size=9)
    return figure


def _draw(axes: Axes, table: pandas.DataFrame) -> None:
    shades = colormaps[COLOURS]
    for number, marker in enumerate(MARKERS, start=1):
        points = table[table["group"] == number]
        generations = f"generations {2 * number - 1}, {2 * number}"
        axes.plot(
            points["capacity_kb"], points["energy_uj"] / 1000, marker, color=shades(number / GROUPS), markersize=4,
            markeredgecolor="0.3", markeredgewidth=0.3, linewidth=0, label=generations,
        )  # fmt: skip
    if table["energy_uj"].isna().all():
        say_none(axes)
    else:
        shown = table["energy_uj"].quantile([0, 1 - NOT_DRAWN]) / 1000
        axes.set_ylim(0.95 * shown.iloc[0], 1.02 * shown.iloc[1])
    alpha = float(table["alpha"].iloc[0]) if "alpha" in table else searches.ALPHA
    ends = np.array([0, 1.05 * table["capacity_kb"].max()])
    axes.set_xlim(*ends)
    energy_mj = (table["cost"].min() - ends * 1024) / alpha * 1e-9
    axes.plot(
        ends,
        energy_mj,
        "--",
        color="red",
        linewidth=1.5,
        label="as costly as the best",
    )
    axes.set_xlabel("capacity of one core (KB)")
    axes.set_ylabel("energy (mJ)")


EXPERIMENT = Experiment(
    "sample_cloud",
    "How do the samples move from generation to generation (Figure 13)?",
    rows,
    plot,
    Seconds(quick=2, full=5),
    full={"networks": searches.FOUR[:3], "samples": SAMPLES},
    quick={"networks": searches.FOUR[:1]},
    axes=("alphas", "cores", "batch", "buffers", "hardware", "keep", "range"),
    check=check,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
