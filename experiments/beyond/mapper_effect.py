"""What do the choice of tile and the mapper change for the memory? Recommended capacity, latency and energy.

    python -m experiments.mapper_effect [--quick] [-o DIR] [--workers N]

The same search under each mapper of `cocco.mapping.MAPPERS`: "enumerate" (whole layers, the paper's model and the
default), "tiled" (the closed form of each update, with its reads), "cosa" (CoSA's program for each update). The regret
is that of the default: its plan, in its memory, priced under the mapper, against what the search under it found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.exploration.answers.result import Result
from cocco.mapping import MAPPERS
from cocco.mapping import mapper as mapping
from experiments.common import command, searches
from experiments.common.drawing import bars, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.mapping.mappers import closed_work
from simulator.partition.partition import Partition

ALPHAS = {
    "energy": 0.002,
    "latency-sum": 1.0,
}  #: bytes per pJ (Cocco, Sec. 5.3.1); per cycle, our choice: near the sizes


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, mappers: Sequence[str], case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network, metric and mapper; asked, hits: of the mapper in the search, by (shape, tile)."""
    common = {"seed": seed, "samples": samples, **case}
    points = [
        {"network": network, "metric": metric, "mapper": name, "alpha": alpha, **common}
        for network in networks
        for metric, alpha in ALPHAS.items()
        for name in mappers
    ]
    return compute(recommend, points)


def recommend(point: Point) -> Point:
    """Return the memory to build under a mapper, and what the default's recommendation costs under it."""
    for memo in (closed_work, mapping._work, mapping.solved):
        memo.cache_clear()  # so that the counts are those of this search, wherever it runs
    mapper = MAPPERS[point["mapper"]]
    best = _search(point, point["mapper"])
    done = mapping.work_done()
    asked = done.get(point["mapper"], {"calls": 0, "hits": 0})
    plain = best if mapper.is_flat else _search(point, "enumerate")
    assert best.accelerator is not None and best.evaluation is not None and plain.accelerator is not None
    stayed = _judged(plain, replace(plain.accelerator, mapper=mapper), point)
    least = min(best.cost, stayed)  # the default's plan is an answer under any mapper
    return {
        "shared_buffer_bytes": best.accelerator.shared_buffer,
        "subgraphs": len(best.evaluation.subgraphs),
        "energy_pj": best.evaluation.energy_pj,
        "latency_cycles": best.evaluation.latency_cycles,
        "compute_cycles": best.evaluation.compute_cycles,
        "ema_bytes": best.evaluation.ema_bytes,
        "cost": best.cost,
        "default_bytes": plain.accelerator.shared_buffer,
        "default_cost": stayed,
        "regret_percent": 100 * (stayed / least - 1),
        "asked": asked["calls"],
        "hits": asked["hits"],
        "solved": done["solver"]["calls"] - done["solver"]["hits"],
    }


def _search(point: Point, name: str) -> Result:
    return cocco.explore(
        workloads.load(point["network"]), metric=point["metric"], alpha=point["alpha"], samples=point["samples"],
        seed=point["seed"], method="ga", mapper=MAPPERS[name], ranges=False, **searches.machine(point),
    )  # fmt: skip


def _judged(found: Result, chip: Accelerator, point: Point) -> float:
    """Return Formula 2 of a plan on this hardware."""
    network = workloads.load(point["network"])
    plan = Partition.from_groups(network, found.plans[0].names)
    price = evaluate(network, plan, chip)
    value = price.energy_pj if point["metric"] == "energy" else price.latency_cycles
    return chip.buffer_bytes + float(point["alpha"]) * value


def plot(table: pandas.DataFrame) -> Figure:
    """Return, for each metric, the recommended capacity and the metric over that under the default mapper."""
    metrics = list(dict.fromkeys(table["metric"]))
    figure, axes = panels(2, len(metrics), 4.2 * len(metrics) + 1, 6)
    names = list(dict.fromkeys(table["network"]))
    for column, metric in enumerate(metrics):
        mine = table[table["metric"] == metric]
        field = "energy_pj" if metric == "energy" else "latency_cycles"
        first = {row["network"]: float(row[field]) for _, row in mine[mine["mapper"] == "enumerate"].iterrows()}
        sizes: dict[str, Sequence[float | None]] = {}
        shares: dict[str, Sequence[float | None]] = {}
        for name in dict.fromkeys(mine["mapper"]):
            rows = mine[mine["mapper"] == name]
            sizes[str(name)] = [float(size) / 1024 for size in rows["shared_buffer_bytes"]]
            shares[str(name)] = [float(row[field]) / first[row["network"]] for _, row in rows.iterrows()]
        bars(axes[column], [title(name) for name in names], sizes)
        axes[column].set_title(f"for {metric}", size=10)
        bars(axes[len(metrics) + column], [title(name) for name in names], shares)
        axes[len(metrics) + column].set_ylabel(f"{metric} / that of whole layers")
        axes[len(metrics) + column].axhline(1, color="black", linewidth=0.8)
    axes[0].set_ylabel("recommended shared buffer (KB)")
    axes[0].set_ylim(0, 1.3 * axes[0].get_ylim()[1])
    axes[0].legend(fontsize=8, loc="upper left", ncols=3)
    return figure


EXPERIMENT = Experiment(
    "mapper_effect",
    "What do the choice of tile and the mapper change in latency, energy and recommended capacity?",
    rows,
    plot,
    Seconds(quick=30, full=900),
    full={"networks": ("vgg16", "resnet50", "googlenet"), "samples": 1_000, "mappers": tuple(MAPPERS)},
    quick={"networks": ("resnet50",), "samples": 60},  # the reference engine takes milliseconds for each
    axes=("cores", "batch", "hardware"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
