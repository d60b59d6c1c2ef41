"""Figure 3 of the paper: off-chip traffic and bandwidth when up to L = 1, 3, 5 layers run as one subgraph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

import workloads
from cocco.problem.problem import Problem, on_hardware
from cocco.search.pricing.subgraphs import SubgraphCosts
from experiments.common import command, published, searches
from experiments.common.drawing import bars, dots, log_labels, number, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.common.published import with_paper
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.partition.partition import Partition, connected_parts
from simulator.technology import KiB, MiB

DEPTHS = (1, 3, 5)
CHIP = Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)  #: Cocco, Fig. 3


def rows(compute: Compute, _: int, networks: Sequence[str], case: Mapping[str, Any]) -> list[Point]:
    """Return one row per network and L; shares are of L = 1. Nothing is random. What does not run has no numbers.

    The paper does not name its four networks; ours are those of its tables.
    """
    found = compute(fused, [{"network": name, "layers": depth, **case} for name in networks for depth in DEPTHS])
    first = {row["network"]: row for row in found if row["layers"] == 1}
    return [_shared(row, first[row["network"]], not case) for row in found]


def fused(point: Point) -> Point:
    """Return what the least-traffic partition with at most so many layers per subgraph needs."""
    network, chip = workloads.load(point["network"]), searches.chip_of(point, CHIP)
    problem = on_hardware(network, chip, metric="ema")
    found = evaluate(network, Partition.from_ids(network, limited(problem, point["layers"])), chip)
    needs = {
        "subgraphs": len(found.subgraphs),
        "ema_bytes": found.ema_bytes,
        "ema_activation_bytes": found.ema_bytes - found.ema_weight_bytes,
        "bandwidth_bytes_per_cycle": found.bandwidth_mean_bytes_per_cycle,
        "rate_bytes_per_cycle": found.ema_bytes / found.latency_cycles,
    }
    return needs if found.fits else dict.fromkeys(needs)


def limited(problem: Problem, most: int) -> list[list[int]]:
    """Return the cheapest cut of the network's own order into runs of at most `most` layers.

    Our choice, as the paper does not say how it fuses L layers. A run that is not connected stands for its parts.
    """
    costs, network = SubgraphCosts(problem), problem.networks[0]
    best = [0.0]
    cuts: list[tuple[int, list[list[int]]]] = []
    for end in range(1, problem.size + 1):
        choices = []
        for start in range(max(0, end - most), end):
            parts = connected_parts(network, range(start, end), "paper")
            choices.append((best[start] + math.fsum(costs.costs(tuple(sorted(p))) for p in parts), start, parts))
        least, start, parts = min(choices)
        best.append(least)
        cuts.append((start, parts))
    groups, end = [], problem.size
    while end:
        end, parts = cuts[end - 1]
        groups += parts
    return groups


def _shared(row: Point, first: Point, is_paper: bool) -> Point:
    """Return the row with each need as a share of that of L = 1, and the paper's share where its text has one."""
    found = dict(row)
    for name in ("ema", "ema_activation", "bandwidth", "rate"):
        column = next(each for each in row if each.startswith(f"{name}_bytes"))
        found[f"{name}_share"] = None if None in (row[column], first[column]) else row[column] / first[column]
    paper = published.FIGURE_3_RESNET50 if is_paper and row["network"] == "resnet50" else {}
    return with_paper(found, {"ema_activation_share": paper.get(row["layers"])})


def plot(table: pandas.DataFrame) -> Figure:
    """Return traffic and traffic of activations, logarithmic as in the paper, and traffic over latency."""
    columns = {
        "ema_bytes": ("off-chip traffic (MB)", 2.0**-20),
        "ema_activation_bytes": ("of activations only (MB)", 2.0**-20),
        "rate_bytes_per_cycle": ("traffic / latency (bytes per cycle)", 1.0),
    }
    figure, axes = panels(1, 3, 10, 3.4)
    names = list(dict.fromkeys(table["network"]))
    for each, (column, (label, scale)) in zip(axes, columns.items()):
        heights: dict[str, Sequence[float | None]] = {
            f"L = {depth}": [*map(number, table[table["layers"] == depth][column] * scale)] for depth in DEPTHS
        }
        is_log = scale < 1
        (dots if is_log else bars)(each, [title(name) for name in names], heights)
        if is_log:
            each.set_yscale("log")
            log_labels(each.yaxis)
        each.set_ylabel(label)
        each.tick_params(axis="x", rotation=20)
    for place, abreast in ((0, 1), (2, 3)):
        axes[place].legend(fontsize=8, ncols=abreast, loc="upper left")
    axes[2].set_ylim(top=1.12 * axes[2].get_ylim()[1])
    figure.suptitle(f"At most L layers per subgraph, {searches.buffers_text(table)}", size=10)
    return figure


EXPERIMENT = Experiment(
    "fusion_depth",
    "How much traffic is saved where up to L layers run as one subgraph (Figure 3)?",
    rows,
    plot,
    Seconds(quick=3, full=4),
    full={"networks": searches.FOUR},
    quick={"networks": searches.FOUR[:2]},
    axes=("cores", "batch", "hardware"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
