"""Table II and Figure 4 of COSMA: schedules of networks from architecture search, by every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from cocco.scheduling.budgets import NAMES
from experiments.common import command
from experiments.common.drawing import bars, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.paper.related import schedules
from experiments.sweep.points import Point

COLUMNS = ("operators", "status", "offchip_bytes", "lower_bound_bytes", "packing", "windows", "windows_proved")
LIMIT = 60.0  #: deterministic time of the solver for each method
METHODS: dict[str, dict[str, Any]] = {
    "fixed default": {"method": "gap", "order": "default"},
    "fixed MPMF": {"method": "gap", "order": "mpmf"},
    "divide": {"method": "divide"},
    "free": {"method": "auto"},
}
#: COSMA, Table II: seconds of FS (default), FS (MPMF) and DnC at M_R, M_H, M_P
PAPER_SECONDS = {
    "pnasnet5large": {
        "fixed default": (12.2, 12.3, 12.2), "fixed MPMF": (24.2, 22.4, 23.5), "divide": (65.9, 63.5, 58.0),
    },
    "amoebanet_d": {"fixed default": (8.1, 8.3, 8.1), "fixed MPMF": (84.4, 8.2, 8.5), "divide": (62.1, 59.9, 112.8)},
    "nasnet": {"fixed default": (19.8, 20.0, 19.7), "fixed MPMF": (22.4, 22.4, 21.6), "divide": (37.5, 22.9, 39.2)},
    "darts": {"fixed default": (5.0, 5.0, 5.0), "fixed MPMF": (5.2, 5.2, 5.2), "divide": (19.1, 19.1, 19.1)},
}  # fmt: skip


def rows(
    compute: Compute, _: int, networks: Sequence[str], budgets: Sequence[str], case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network, budget and method, activations only; nothing is random.

    cpu_seconds are of this machine, the paper's of an Apple M1 Pro with Gurobi; all numbers but these are the same
    everywhere. budgets: those with these names. reduction: of the mean of the four baselines; the
    paper's mean over its four networks is 85 %.
    """
    points = [
        point | {"method": method}
        for point in schedules.points(networks, (False,), budgets, limit=LIMIT, **case)
        for method in METHODS
    ]
    return compute(scheduled, points)


def scheduled(point: Point) -> Point:
    """Return what one method moves and takes, beside the baselines."""
    found, seconds = schedules.timed(point, limit=point["limit"], **METHODS[point["method"]])
    base = schedules.baselines(point)
    paper = PAPER_SECONDS.get(point["network"], {}).get(point["method"])
    place = next(name for name in NAMES if name in point["budget"])
    return {
        **{name: getattr(found, name) for name in COLUMNS},
        **base,
        "reduction": schedules.reduction(found.offchip_bytes, base),
        "cpu_seconds": round(seconds, 1),
        "paper_seconds": paper[NAMES.index(place)] if paper and "batch" not in point else None,
    }


def plot(table: pandas.DataFrame) -> Figure:
    """Return the bytes of each method and of the mean baseline, a panel for each network."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(6.4, 4.2 * len(names)), 3.8)
    for each, name in zip(axes, names):
        rows = table[table["network"] == name]
        groups = list(dict.fromkeys(rows["budget"]))
        first = rows[rows["method"] == "free"]
        base = [f"{order}_{method}_bytes" for order, method in schedules.BASELINES]
        heights: dict[str, Sequence[float | None]] = {
            "mean of baselines": [float(value) / 2**20 for value in first[base].mean(axis=1)]
        }
        for method in METHODS:
            heights[method] = [float(value) / 2**20 for value in rows[rows["method"] == method]["offchip_bytes"]]
        bars(each, groups, heights)
        each.set_title(title(name), size=10)
        each.set_ylabel("off-chip (MB)")
    axes[0].legend(fontsize=7)
    figure.suptitle("Bytes spilled and retrieved, activations only; no bar: 0 bytes", size=10)
    return figure


EXPERIMENT = Experiment(
    "nas_schedules",
    "What do fixed orders, divide and conquer and a free order move and take (COSMA, Table II, Figure 4)?",
    rows,
    plot,
    Seconds(quick=90, full=400),
    full={"networks": schedules.NAS, "budgets": NAMES},
    quick={"budgets": ("half",)},
    axes=("batch",),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
