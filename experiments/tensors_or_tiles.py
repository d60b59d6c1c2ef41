"""Whole tensors (COSMA) or tiles (Cocco), or tiles and kept tensors? Off-chip bytes in one memory, beside the least."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import cocco
import workloads
from cocco.problem.names import Keep
from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import graph_of
from cocco.scheduling.searches.beam import WIDTH
from experiments.common import command
from experiments.common.drawing import LINES, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import compulsory_bytes
from simulator.technology import KiB
from workloads.network.network import Network

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

NETWORKS = ("vgg16", "resnet50", "googlenet", "densenet121", "vit_b16", "gpt", "randwire_a", "randwire_b", "nasnet")
KILOBYTES = (128, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192)  #: one memory for weights and activations
WAYS: dict[str, Keep] = {"tiles": "none", "kept": "auto"}  #: columns of the table by what `cocco.partition` may keep
LIMIT = 10.0  #: deterministic time of the solver


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int) -> list[Point]:
    """Return one row per network and capacity; bytes are all that crosses DRAM, weights among it.

    The capacities are those of KILOBYTES and the network's own M_R and M_P with parameters. Below M_R whole tensors
    have no schedule. Tiles, and tiles beside tensors that are kept on chip, come with Cocco's 64 regions, and without a
    limit. All answers are of the same simulator's kind: a plan that was priced or replayed.
    """
    points = []
    for name in networks:
        budgets = budgets_of(graph_of(operators_of(workloads.load(name), parameters=True)))
        own = {_words(budgets.minimum), _words(budgets.peak)}
        for capacity in sorted({*(each * KiB for each in KILOBYTES), *own}):
            points.append({"network": name, "bytes": capacity, "samples": samples, "seed": seed, "limit": LIMIT})
    return [row | more for row, more in zip(compute(compared, points), compute(tiled_freely, points))]


def _words(size: int) -> int:
    """Return a size in whole words of 8 bytes, the width of the buffer."""
    return -(-size // 8) * 8


def compared(point: Point) -> Point:
    """Return what both ways move in one memory."""
    network = workloads.load(point["network"])
    must = compulsory_bytes(operators_of(network, parameters=True))
    tensors = cocco.schedule(network, point["bytes"], parameters=True, limit=point["limit"], width=WIDTH // 2)
    chip = Accelerator(shared_buffer=point["bytes"])
    moved = None if tensors.offchip_bytes is None else must + tensors.offchip_bytes
    return {
        "compulsory_bytes": must,
        "tensors_bytes": moved,
        "tensors_status": tensors.status,
        **_partitioned(point, network, chip, ""),
        "minimum_bytes": tensors.minimum_bytes,
        "peak_bytes": tensors.peak_bytes,
        "peak_proved": tensors.peak_proved,
    }


def tiled_freely(point: Point) -> Point:
    """Return what tiles move where a subgraph may hold any number of tensors: whole tensors have no such limit."""
    chip = Accelerator(shared_buffer=point["bytes"], max_regions=None)
    return _partitioned(point, workloads.load(point["network"]), chip, "_free")


def _partitioned(point: Point, network: Network, chip: Accelerator, suffix: str) -> Point:
    """Return what tiles move, and tiles beside kept tensors."""
    answer: Point = {}
    for name, keep in WAYS.items():
        found = cocco.partition(
            network, chip, metric="ema", keep=keep, samples=point["samples"], seed=point["seed"]
        )  # fmt: skip
        fits = math.isfinite(found.cost)
        answer |= {
            f"{name}{suffix}_bytes": found.evaluation.ema_bytes if fits else None,
            f"{name}{suffix}_status": found.status,
            f"{name}{suffix}_subgraphs": len(found.plan) if fits else None,
        }
    return answer


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel for each network: bytes over capacity, both logarithmic."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    names = list(dict.fromkeys(table["network"]))
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    figure, axes = panels(rows, columns, 3.7 * columns, 2.9 * rows)
    lines = {
        "tiles_bytes": "tiles (Cocco, 64 regions)",
        "tensors_bytes": "whole tensors (COSMA)",
        "tiles_free_bytes": "tiles, any number of regions",
        "kept_bytes": "tiles and kept tensors (ours, 64 regions)",
    }
    for each, name in zip(axes, names):
        part = table[table["network"] == name]
        for style, (column, label) in zip(LINES, lines.items()):
            known = part[part[column].notna()]
            each.plot(known["bytes"] / KiB, known[column] / 2**20, label=label, markersize=4, **style)
        each.axhline(part["compulsory_bytes"].iloc[0] / 2**20, color="black", linestyle=":", label="compulsory")
        least = part["minimum_bytes"].iloc[0] / KiB
        each.axvspan(part["bytes"].min() / KiB, max(least, part["bytes"].min() / KiB), color="0.93")
        each.set_xscale("log", base=2)
        each.set_yscale("log")
        each.set_title(title(name), size=9)
        for axis, form in ((each.xaxis, "{x:,.0f}"), (each.yaxis, "{x:,.3g}")):
            axis.set_major_formatter(StrMethodFormatter(form))
        each.yaxis.set_minor_formatter(StrMethodFormatter("{x:,.3g}"))
        each.yaxis.set_minor_locator(LogLocator(subs=(1.5, 2, 3, 5, 7)))
        each.tick_params(which="both", labelsize=7)
    for each in axes[len(names) :]:
        each.set_visible(False)
    for each in axes[::columns]:
        each.set_ylabel("off-chip (MB)")
    for each in axes[max(0, len(names) - columns) : len(names)]:
        each.set_xlabel("one memory (KB)")
    axes[0].legend(fontsize=7)
    figure.suptitle("All bytes across DRAM; grey: below M_R whole tensors do not fit", size=10)
    return figure


EXPERIMENT = Experiment(
    "tensors_or_tiles",
    "Off-chip bytes of whole tensors, of tiles, and the compulsory bound, over the memory's capacity",
    rows,
    plot,
    Seconds(quick=10, full=300),
    full={"networks": NETWORKS, "samples": 5_000},
    quick={"networks": NETWORKS[1:3], "samples": 2_000},
)
run = EXPERIMENT.run


if __name__ == "__main__":
    sys.exit(command.main(EXPERIMENT))
