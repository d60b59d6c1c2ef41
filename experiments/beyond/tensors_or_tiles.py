"""Whole tensors (COSMA) or tiles (Cocco), or tiles and kept tensors? Off-chip bytes in one memory, beside the least."""

from __future__ import annotations

from collections.abc import Sequence

import pandas
from matplotlib.figure import Figure

import workloads
from cocco.scheduling.budgets import budgets_of
from cocco.scheduling.graph import graph_of
from experiments.common import command, least_traffic
from experiments.common.drawing import LINES, log_labels, over_capacity
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.schedule.operators import operators_of
from simulator.technology import KiB

NETWORKS = ("vgg16", "resnet50", "googlenet", "densenet121", "vit_b16", "gpt", "randwire_a", "randwire_b", "nasnet")
KILOBYTES = (128, 512, 1024, 2048, 3072, 4096, 6144, 8192)  #: one memory for weights and activations


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int) -> list[Point]:
    """Return one row per network and capacity; bytes are all that crosses DRAM, weights among it.

    The capacities are those of KILOBYTES and the network's own M_R and M_P with parameters. Below M_R whole tensors
    have no schedule. All answers are of plans that the simulator priced or replayed.
    """
    points, budgets = [], []
    for name in networks:
        found = budgets_of(graph_of(operators_of(workloads.load(name), parameters=True)))
        own = {_words(found.minimum), _words(found.peak)}
        about = {"minimum_bytes": found.minimum, "peak_bytes": found.peak, "peak_proved": found.peak_is_proved}
        for capacity in sorted({*(each * KiB for each in KILOBYTES), *own}):
            points.append({"network": name, "bytes": capacity, "samples": samples, "seed": seed})
            budgets.append(about)
    ways = compute(least_traffic.tiled, points), compute(least_traffic.tensors_and_kept, points)
    return [tiles | kept | about for tiles, kept, about in zip(*ways, budgets)]


def _words(size: int) -> int:
    """Return a size in whole words of 8 bytes, the width of the buffer."""
    return -(-size // 8) * 8


def above(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the rows in which kept tensors move more than one of the other ways; there should be none."""
    return table[(table["kept_bytes"] > table["tiles_bytes"]) | (table["kept_bytes"] > table["tensors_bytes"])]


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel for each network: bytes over capacity, both logarithmic."""
    figure, axes = over_capacity(table, "off-chip (MB)")
    lines = {
        "tiles_bytes": "tiles, nothing kept (Cocco)",
        "tensors_bytes": "whole tensors (COSMA)",
        "kept_bytes": "tiles and kept tensors (ours)",
    }
    for each, part in axes:
        for style, (column, label) in zip(LINES, lines.items()):
            known = part[part[column].notna()]
            each.plot(known["bytes"] / KiB, known[column] / 2**20, label=label, markersize=4, **style)
        floor = part["floor_bytes"].iloc[0] / 2**20
        each.axhline(floor, color="black", linestyle=":", label="weights, inputs, outputs once")
        least = part["minimum_bytes"].iloc[0] / KiB
        each.axvspan(part["bytes"].min() / KiB, max(least, part["bytes"].min() / KiB), color="0.93")
        each.set_xscale("log", base=2)
        each.set_yscale("log")
        each.xaxis.set_major_formatter("{x:,.0f}")
        log_labels(each.yaxis)
        each.tick_params(which="both", labelsize=7)
    figure.axes[0].legend(fontsize=7)
    figure.suptitle("All bytes across DRAM; grey: below M_R whole tensors do not fit", size=10)
    return figure


EXPERIMENT = Experiment(
    "tensors_or_tiles",
    "Off-chip bytes of tiles, of whole tensors, and of tiles with kept tensors, over the memory's capacity",
    rows,
    plot,
    Seconds(quick=23, full=540),
    full={"networks": NETWORKS, "samples": 2_000},
    quick={"networks": NETWORKS[1:3], "samples": 1_000},
    keeps=True,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
