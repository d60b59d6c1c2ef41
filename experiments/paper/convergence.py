"""Figure 12 of the paper: cost against samples of five methods, and how many samples each needs."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cocco.exploration.answers.lacking import finite
from cocco.search.baselines.two_step import SAMPLES_PER_CANDIDATE
from experiments.common import command, searches
from experiments.common.drawing import LINES, dots, panels, say_none, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point

NETWORKS = searches.FOUR  #: Cocco, Sec. 5.3.2 has the first three
SEEDS = 10  #: our choice
CHECKPOINTS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  #: shares of the samples
WITHIN_BEST = 0.01  #: above the best known cost; our choice of what a search should reach


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, seeds: int, case: Mapping[str, Any]
) -> list[Point]:
    """Return the best cost so far at checkpoints, one row per network, method, seed and checkpoint.

    over_best: above the best cost that any run of the network found, or enumeration proved. samples_within: when the
    run came within 1 % of it; empty if never. A run without any answer has one row, without a cost. Shared buffer,
    alpha 0.002. Two-step methods count 5,000 samples before the first memory has its cost. seeds: seed, seed + 1, ...;
    so many.
    """
    points = [
        searches.point(name, **{"space": "shared", "method": method, **case}, seed=each, samples=samples)
        for name in networks
        for method in searches.METHODS
        for each in range(seed, seed + seeds)
    ]
    found = compute(traced, points)
    best = {
        name: min((row["cost"] for row in found if row["network"] == name and row["costs"]), default=math.inf)
        for name in networks
    }
    return [place for row in found for place in _curve(row, best[row["network"]])]


def traced(point: Point) -> Point:
    """Return when the best cost so far fell, and to what; `cost` is the final one, proven where it can be.

    Samples that do not run have no cost.
    """
    result = searches.search(point, bounded=False)
    points = result.points[np.isfinite(result.points["best_cost"])]
    falls = points[points["best_cost"].diff().fillna(-1) < 0]
    numbers = [int(number) for number in falls["sample"]]
    if point["method"] in ("RS+GA", "GS+GA"):  # a sample of these is a memory, searched with so many samples
        numbers = [min(number * SAMPLES_PER_CANDIDATE, point["samples"]) for number in numbers]
    return {
        "samples_at": numbers,
        "costs": list(falls["best_cost"]),
        "cost": finite(result.cost),
        "status": result.status,
    }


def _curve(row: Point, best: float) -> list[Point]:
    """Return the rows of one run, at the checkpoints that it had an answer at; one without a cost if at none."""
    numbers, costs = row["samples_at"], row["costs"]
    about = {name: row[name] for name in ("network", "method", "seed")}
    if not costs:
        return [about | {"samples": row["samples"], "best_cost": None, "over_best": None, "samples_within": None}]
    within = next((at for at, cost in zip(numbers, costs) if cost <= best * (1 + WITHIN_BEST)), None)
    found = []
    for share in CHECKPOINTS:
        samples = max(1, round(share * row["samples"]))
        place = bisect.bisect_right(numbers, samples)
        if place:
            cost = costs[place - 1]
            found.append(
                about
                | {"samples": samples, "best_cost": round(cost), "over_best": round(cost / best - 1, 6)}
                | {"samples_within": within}
            )
    return found


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network, the median of the seeds with the least and most, and one of samples needed."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(2, (len(names) + 2) // 2, 10 if len(names) > 1 else 8, 6.4)
    for each, name in zip(axes, names):
        _draw_curves(each, table[table["network"] == name])
        each.set_title(title(name), size=10)
    _draw_needed(axes[len(names)], table, names)
    for left in axes[len(names) + 1 :]:
        left.remove()
    seeds = table["seed"].nunique()
    drawn = f"lines: median of {seeds} seeds; bands: from the least to the most of them"
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8, title=drawn,
        title_fontsize=8,
    )  # fmt: skip
    return figure


def _draw_curves(axes: Axes, table: pandas.DataFrame) -> None:
    for method, style in zip(reversed(searches.METHODS), LINES):
        runs = table[table["method"] == method]
        over = 100 * runs.groupby("samples")["over_best"].agg(["min", "median", "max"])
        axes.plot(over.index, over["median"], label=method, markersize=3.5, linewidth=1.2, **style)
        axes.fill_between(over.index, over["min"], over["max"], color=style["color"], alpha=0.15, linewidth=0)
    axes.set_xlabel("samples")
    axes.set_ylabel("cost above the best known (%)")
    if table["over_best"].isna().all():
        say_none(axes)
        return
    axes.set_xscale("log")
    axes.set_xlim(right=table["samples"].max())
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.03, 130 * table["over_best"].max())
    ticks = [0, 0.5, 1, 2, 5, 10, 20, 50, 100]
    axes.set_yticks([each for each in ticks if each < axes.get_ylim()[1]])
    axes.yaxis.set_major_formatter("{x:g}")


def _draw_needed(axes: Axes, table: pandas.DataFrame, names: Sequence[str]) -> None:
    """Draw the median of the samples needed; "n/a" where at least half of the runs never came so far."""
    runs = table.drop_duplicates(["network", "method", "seed"])
    heights: dict[str, list[float | None]] = {}
    for method in reversed(searches.METHODS):  # with the markers of the curves
        needed = []
        for name in names:
            chosen = runs[(runs["method"] == method) & (runs["network"] == name)]["samples_within"]
            median = chosen.astype(float).fillna(float("inf")).median()
            needed.append(None if median == float("inf") else float(median))
        heights[method] = needed
    axes.set_yscale("log")
    axes.set_ylim(10, 3_000_000)
    dots(axes, [title(name) for name in names], heights)
    axes.set_ylabel(f"samples until within {WITHIN_BEST:.0%}, median")
    axes.set_title("Samples needed (n/a: half of the runs never)", size=10)


EXPERIMENT = Experiment(
    "convergence",
    "How many samples does each method need (Figure 12)?",
    rows,
    plot,
    Seconds(quick=10, full=560),
    full={"networks": NETWORKS, "samples": searches.SAMPLES, "seeds": SEEDS},
    quick={"networks": NETWORKS[:1], "samples": 10_000, "seeds": 2},
    axes=("alphas", "cores", "batch", "buffers", "hardware", "metric", "range"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
