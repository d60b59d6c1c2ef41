"""Figure 11 of the paper: the partitions of greedy, dp, enumeration and Cocco on eight networks, least traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.exploration.answers.lacking import finite
from cocco.problem.names import HardwareMethod
from experiments.common import command, published, searches
from experiments.common.drawing import bars, number, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.technology import KiB, MiB

EIGHT = ("vgg16", "resnet50", "resnet152", "googlenet", "transformer", "gpt", "randwire_a", "randwire_b")
METHODS: dict[str, HardwareMethod] = {"greedy": "greedy", "dp": "dp", "enumeration": "exact", "Cocco": "ga"}
"""In the order of the figure."""
CHIP = Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)  #: Cocco, Sec. 5.2


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, case: Mapping[str, Any]
) -> pandas.DataFrame:
    """Return one row per network and method; shares are of greedy. Where the enumeration gave up it has no numbers.

    Nor has what does not run. gap: to the optimum where enumeration finished, else to the lower bound that is always
    there.
    """
    found = compute(
        partitioned,
        [
            {"network": name, "method": method, "samples": samples, "seed": seed, **case}
            for name in networks
            for method in METHODS
        ],
    )
    by_place = {(row["network"], row["method"]): row for row in found}
    table = pandas.DataFrame(
        [_row(row, by_place[row["network"], "greedy"], by_place[row["network"], "enumeration"]) for row in found]
    )
    return table.astype(dict.fromkeys(("ema_bytes", "subgraphs"), "Int64"))  # whole numbers, or empty


def partitioned(point: Point) -> Point:
    """Return what the partition of a method needs."""
    result = cocco.partition(
        workloads.load(point["network"]), searches.chip_of(point, CHIP), method=METHODS[point["method"]],
        metric="ema", samples=point["samples"], seed=point["seed"],
    )  # fmt: skip
    needs = {
        "ema_bytes": result.evaluation.ema_bytes,
        "bandwidth_bytes_per_cycle": result.evaluation.bandwidth_mean_bytes_per_cycle,
        "rate_bytes_per_cycle": result.evaluation.ema_bytes / result.evaluation.latency_cycles,
        "subgraphs": len(result.evaluation.subgraphs),
    }
    return {
        **(needs if result.plans else dict.fromkeys(needs)),
        "samples": result.samples,
        "status": result.status,
        "lower_bound": finite(result.lower_bound),
    }


def _row(row: Point, greedy: Point, enumeration: Point) -> Point:
    needs = ("ema_bytes", "bandwidth_bytes_per_cycle", "rate_bytes_per_cycle", "subgraphs")
    bound = enumeration["lower_bound"]
    found = {name: row[name] for name in ("network", "method", "seed", "samples", "status")}
    if row["status"] == "gave_up" or row["ema_bytes"] is None:  # gave up: they are those of a heuristic
        shares = ("ema_share", "bandwidth_share", "rate_share")
        return found | dict.fromkeys((*needs, *shares, "gap", "is_optimal", "paper_is_optimal"))
    found |= {name: row[name] for name in needs}
    for name in ("ema", "bandwidth", "rate"):
        column = next(each for each in needs if each.startswith(f"{name}_bytes"))
        found[f"{name}_share"] = None if greedy[column] is None else row[column] / greedy[column]
    gap = (row["ema_bytes"] - bound) / row["ema_bytes"]
    optimal = enumeration["status"] == "optimal" and gap <= 0
    paper = row["network"] in published.FIGURE_11_OPTIMAL if row["method"] == "Cocco" else None
    return found | {"gap": gap, "is_optimal": optimal, "paper_is_optimal": paper}


def plot(table: pandas.DataFrame) -> Figure:
    """Return traffic and the two averages of bandwidth of each network and method, greedy = 1."""
    figure, axes = panels(2, 1, 9, 5.6)
    _draw(axes[0], table, "ema_share", "off-chip traffic")
    _draw(axes[1], table, "rate_share", "traffic / latency")
    axes[0].legend(fontsize=8, ncols=4, loc="upper left")
    infeasible = ", or nothing runs" if (table["status"] == "infeasible").any() else ""
    axes[0].set_title(f"{searches.buffers_text(table)}; n/a: the enumeration gave up{infeasible}", size=10)
    return figure


def _draw(axes: Axes, table: pandas.DataFrame, column: str, label: str) -> None:
    names = list(dict.fromkeys(table["network"]))
    heights: dict[str, Sequence[float | None]] = {
        method: [number(value) for value in table[table["method"] == method][column]] for method in METHODS
    }
    bars(axes, [title(name) for name in names], heights)
    top = max((value for values in heights.values() for value in values if value is not None), default=1)
    axes.set_ylim(0, 1.25 * top)
    axes.axhline(1, color="black", linewidth=0.6)
    axes.set_ylabel(f"{label} (greedy = 1)", size=9)


EXPERIMENT = Experiment(
    "partition_quality",
    "How good are the partitions of greedy, dp, enumeration and Cocco (Figure 11)?",
    rows,
    plot,
    Seconds(quick=6, full=297),
    full={"networks": EIGHT, "samples": 400_000},  # Cocco, Sec. 5.2
    quick={"networks": EIGHT[:4], "samples": 10_000},
    axes=("cores", "batch", "hardware"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
