"""Capacity against energy: the fronts of many networks, cores and batches in one picture, with their hypervolumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.problem.dominance import hypervolume
from cocco.problem.problem import over_space
from experiments.common import command, drawing, searches
from experiments.common.drawing import panels, styles
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.evaluation import evaluate
from simulator.partition.partition import Partition

AXES = ("cores", "batch", "space", "seed")  #: what lines are told apart by, beside the network


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, seeds: int, cores: Sequence[int],
    batch: Sequence[int], buffers: Sequence[str],
) -> list[Point]:  # fmt: skip
    """Return one row per point of each front, from the smallest memory to the largest.

    hypervolume: of the whole front, as a share of the box between zero and (largest memory and one byte, energy layer
    by layer in the smallest memory), so that fronts of one network, of the same cores, batch and buffers, compare.
    """
    points = [
        {"network": name, "space": kind, "cores": n, "batch": each, "samples": samples, "seed": number}
        for name in networks
        for kind in buffers
        for n in cores
        for each in batch
        for number in range(seed, seed + seeds)
    ]
    return [{**point, **row} for point, found in zip(points, compute(front, points)) for row in found["rows"]]


def front(point: Point) -> Point:
    """Return the points of one front, nothing kept on chip, each with the hypervolume of the whole."""
    network, space = workloads.load(point["network"]), searches.SPACES[point["space"]]()
    machine = searches.machine(point)
    found = cocco.pareto(
        network, space=space, samples=point["samples"], seed=point["seed"], bank=searches.left(), **machine,
    )  # fmt: skip
    corner = worst(network, space, machine)
    values = found.front[["capacity_bytes", "energy_pj"]].to_numpy()
    volume = hypervolume(values, corner) / (corner[0] * corner[1])
    about = {"hypervolume": round(volume, 6), "status": found.status}
    return {
        "rows": [
            {
                "capacity_kb": int(capacity) // 1024,
                **searches.memory(each.accelerator),
                "energy_pj": float(energy),
                "subgraphs": sum(map(len, each.plans)),
                **about,
            }
            for each, (capacity, energy) in zip(found.found, values)
        ]
    }


def worst(
    network: workloads.Network, space: cocco.SharedBuffer | cocco.SeparateBuffers, machine: dict[str, Any]
) -> tuple[float, float]:
    """Return the worst corner of the box: bytes above the largest memory, and energy layer by layer in the smallest."""
    problem = over_space(network, space, alpha=0.0, **machine)
    largest = problem.accelerator_of([len(sizes) - 1 for sizes in problem.candidates])
    smallest = problem.accelerator_of([0] * len(problem.buffers))
    return largest.buffer_bytes + 1.0, evaluate(network, Partition.layerwise(network), smallest).energy_pj


def plot(table: pandas.DataFrame) -> Figure:
    """Return all fronts overlaid, as steps: in a memory no energy below the step was found; and their hypervolumes."""
    table = drawing.by_case(table, AXES)
    figure, (axes,) = panels(1, 1, 7.5, 4.8)
    for name, style in styles(table["network"].unique()):
        rows = table[table["network"] == name].sort_values("capacity_kb")
        label = f"{drawing.title(str(name))}: {rows['hypervolume'].iloc[0]:.4f}"
        axes.plot(rows["capacity_kb"], rows["energy_pj"] * 1e-9, label=label, drawstyle="steps-post", markersize=4,
                  linewidth=1, **style)  # fmt: skip
    axes.set_yscale("log")
    for of_ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        of_ticks("{x:g}")
    axes.set_xlim(left=0)
    axes.set_xlabel("capacity of one core (KB)")
    axes.set_ylabel("energy (mJ)")
    axes.grid(axis="both", which="both", color="0.9", linewidth=0.6)
    figure.legend(loc="outside right upper", fontsize=8, title="hypervolume", title_fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "pareto",
    "Which memories are worth their bytes: capacity against energy, over networks, cores and batches?",
    rows,
    plot,
    Seconds(quick=6, full=25),
    full={
        "networks": searches.FOUR[:3], "samples": 20_000, "seeds": 1, "cores": (1, 4), "batch": (1,),
        "buffers": ("shared",),
    },
    quick={"networks": searches.FOUR[:2], "samples": 2_000, "cores": (1,)},
)  # fmt: skip
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
