"""Figure 14 of the paper: what more weight on energy buys, and the memory it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from cocco.candidates.rounding import SAME
from cocco.problem.criteria import CRITERIA
from experiments.common import command, published, searches
from experiments.common.drawing import panels, say_none, styles, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point

ALPHAS = (published.FIGURE_14_FIRST_ALPHA, 0.001, 0.002, 0.005, 0.01)  #: bytes per pJ; all but the first our choice

FAR = 20  #: how many times one memory may be another's in lines of one scale; our choice


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, alphas: Sequence[float], case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network and alpha: the memory, its metric, and that over the metric of the first alpha."""
    metric = str(case.get("metric", "energy"))
    column, share = CRITERIA[metric].column, f"{metric}_share"
    common: dict[str, Any] = {"seed": seed, "samples": samples}
    found = compute(
        searches.explored,
        [
            searches.point(name, **{"space": "shared", "method": "Cocco", **case}, **common, alpha=alpha)
            for name in networks
            for alpha in alphas
        ],
    )
    found = exchanged(found, column)
    first = {row["network"]: row[column] for row in found if row["alpha"] == alphas[0]}
    columns = (column, share, "cost", "samples", "seed", "status", "gap")
    for row in found:
        row[share] = None if row[column] is None else row[column] / first[row["network"]]
    return [
        {
            "network": row["network"],
            "alpha": row["alpha"],
            **searches.sizes(row),
            **{name: row[name] for name in columns},
        }
        for row in found
    ]


def exchanged(found: Sequence[Point], column: str) -> list[Point]:
    """Return the rows, each with the answer of whichever alpha costs least at its own: memory grows with alpha then.

    What a plan takes in its memory does not depend on alpha. Of answers that cost the same a row keeps its own; one
    without numbers costs infinitely much. column: of what is minimized.
    """

    def cost(row: Point, alpha: float) -> float:
        if row[column] is None:
            return math.inf
        return 1024 * sum(searches.sizes(row).values()) + alpha * float(row[column])

    rows = []
    for row in found:
        own = cost(row, row["alpha"])
        others = [each for each in found if each["network"] == row["network"]]
        best = min(others, key=lambda each: cost(each, row["alpha"]))
        least = cost(best, row["alpha"])
        if least < own * (1 - SAME):
            bound = row["lower_bound"]
            gap = None if bound is None else max(0.0, (least - bound) / least)
            row = {**best, "alpha": row["alpha"], "lower_bound": bound, "cost": least, "gap": gap,
                   "status": "optimal" if gap == 0 else "feasible"}  # fmt: skip
        rows.append(row)
    return rows


def plot(table: pandas.DataFrame) -> Figure:
    """Return energy, or what was minimized, and capacity against alpha, a line per network."""
    figure, axes = panels(1, 2, 9, 3.8)
    alphas = sorted(table["alpha"].unique())
    shares = [str(name) for name in table if str(name).endswith("_share")]
    units = [CRITERIA[name.removesuffix("_share")].unit.removesuffix("s") for name in shares]
    table = table.assign(share=table[shares].bfill(axis=1).iloc[:, 0])
    for name, style in styles(table["network"].unique()):
        rows = table[table["network"] == name].sort_values("alpha")
        sizes = searches.capacity_kb(rows)
        axes[0].plot(rows["alpha"], rows["share"], label=title(str(name)), **style)
        axes[1].plot(rows["alpha"], sizes, label=title(str(name)), **style)
    for each in axes:
        each.set_xscale("log")
        each.set_xticks(alphas, [f"{alpha:g}" for alpha in alphas])
        each.minorticks_off()
        each.set_xlabel(f"alpha (bytes per {' or '.join(dict.fromkeys(units))})")
    axes[0].set_ylabel(
        f"{' or '.join(name.removesuffix('_share') for name in shares)} (alpha = {table['alpha'].iloc[0]:g}: 1)"
    )
    axes[1].set_ylabel("buffers of one core (KB)")
    sizes = searches.capacity_kb(table)
    for each in axes if sizes.isna().all() else ():
        say_none(each)
    if sizes.max() > FAR * sizes.min():
        axes[1].set_yscale("log")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "alpha_sweep",
    "How does alpha trade capacity for energy (Figure 14)?",
    rows,
    plot,
    Seconds(quick=12, full=240),
    full={"networks": searches.FOUR, "samples": searches.SAMPLES, "alphas": ALPHAS},
    quick={"networks": searches.FOUR[:2], "samples": 5_000},
    axes=("cores", "batch", "buffers", "hardware", "keep", "metric", "range"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
