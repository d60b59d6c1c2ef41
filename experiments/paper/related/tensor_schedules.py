"""Figure 3 of COSMA: off-chip bytes of whole-tensor schedules beside four baselines, networks that people designed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from cocco.scheduling.budgets import NAMES
from experiments.common import command
from experiments.common.drawing import dots, number, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.paper.related import schedules
from experiments.sweep.points import Point

COLUMNS = ("operators", "method", "status", "offchip_bytes", "lower_bound_bytes", "compulsory_bytes", "packing")
LIMIT = 60.0  #: deterministic time of the solver for each point
LINEAR = 0.1  #: MB, up to which the picture's axis is linear, so that 0 has a place


def rows(
    compute: Compute, _: int, networks: Sequence[str], budgets: Sequence[str], case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network, setting and budget, and the mean reductions at M_R; nothing is random.

    Budgets of the same bytes are one row. reduction: of the mean of the four baselines. The paper gives only a mean
    in its text: 84 % at M_R.
    """
    found = compute(scheduled, schedules.points(networks, (False, True), budgets, limit=LIMIT, **case))
    return [*found, *means(found)]


def scheduled(point: Point) -> Point:
    """Return what the joint schedule and the baselines move."""
    found, seconds = schedules.timed(point, limit=point["limit"])
    base = schedules.baselines(point)
    return {
        **{name: getattr(found, name) for name in COLUMNS},
        **base,
        "reduction": schedules.reduction(found.offchip_bytes, base),
        "cpu_seconds": round(seconds, 2),
    }


def means(rows: Sequence[Point]) -> list[Point]:
    """Return the mean reduction at M_R of each setting and of both, beside the paper's."""
    found = []
    for setting, wanted in (("activations", (False,)), ("with parameters", (True,)), ("both", (False, True))):
        values = [
            row["reduction"]
            for row in rows
            if row["parameters"] in wanted and row["budget"].startswith("minimum") and row["reduction"] is not None
        ]
        if values:
            mean = {"network": f"mean, {setting}", "budget": "minimum", "reduction": sum(values) / len(values)}
            found.append({**mean, "paper_reduction": schedules.PAPER_HUMAN})
    return found


def plot(table: pandas.DataFrame) -> Figure:
    """Return the bytes at the least budget of the table; activations above, with parameters below.

    Points, as bars have no foot on an axis that is logarithmic (from LINEAR up).
    """
    budget = next(name for name in NAMES if table["budget"].str.contains(name).any())
    figure, axes = panels(2, 1, 11, 6.4)
    for each, with_weights in zip(axes, (False, True)):
        rows = table[(table["parameters"] == with_weights) & table["budget"].str.contains(budget)]
        names = [title(name) for name in rows["network"]]
        columns = {"default, Belady": "default_belady", "default, greedy": "default_greedy"}
        columns |= {"MPMF, Belady": "mpmf_belady", "MPMF, greedy": "mpmf_greedy"}
        heights: dict[str, Sequence[float | None]] = {
            label: [number(value / 2**20) for value in rows[f"{column}_bytes"]] for label, column in columns.items()
        }
        heights["joint schedule"] = [number(value / 2**20) for value in rows["offchip_bytes"]]
        dots(each, names, heights)
        each.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
        each.set_ylim(-0.02, 400)
        each.set_yticks([0, 0.1, 1, 10, 100])
        each.yaxis.set_major_formatter("{x:g}")
        each.set_ylabel("off-chip (MB)")
        each.tick_params(axis="x", rotation=20)
        setting = "with parameters" if with_weights else "activations only"
        each.set_title(f"{setting}, budget {budget}", size=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.suptitle("Bytes spilled and retrieved, beyond what every schedule moves", size=10)
    return figure


EXPERIMENT = Experiment(
    "tensor_schedules",
    "How many non-compulsory bytes does a joint schedule save (COSMA, Figure 3)?",
    rows,
    plot,
    Seconds(quick=2, full=310),
    full={"networks": schedules.HUMAN, "budgets": NAMES},
    quick={"networks": ("resnet50", "googlenet")},
    axes=("batch",),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
