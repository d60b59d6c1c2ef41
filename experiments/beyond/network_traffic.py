"""The least bytes across DRAM of the built-in networks in small memories, without and with tensors kept on chip."""

from __future__ import annotations

from collections.abc import Sequence

import pandas
from matplotlib.figure import Figure

import workloads
from cocco.bounds.any_schedule import any_schedule_bound_bytes
from experiments.common import command, least_traffic
from experiments.common.drawing import LINES, log_labels, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.technology import KiB

KILOBYTES = (512, 1024, 2048)  #: one memory for weights and activations
CLIPS = ("s3d", "r2plus1d")  #: have no tiles
NETWORKS = tuple(name for name in workloads.names() if name not in (*CLIPS, *workloads.LANGUAGE_MODELS))


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int) -> list[Point]:
    """Return one row per network and capacity; the floor is weights, inputs, outputs once."""
    points = [{"network": name, "bytes": size * KiB, "samples": samples, "seed": seed} for name in networks
              for size in KILOBYTES]  # fmt: skip
    ways = compute(least_traffic.tiled, points), compute(least_traffic.tensors_and_kept, points)
    return [tiles | kept | {"any_schedule_bytes": _least(tiles)} for tiles, kept in zip(*ways)]


def _least(point: Point) -> int:
    return any_schedule_bound_bytes(workloads.load(point["network"]), Accelerator(shared_buffer=point["bytes"]))


def plot(table: pandas.DataFrame) -> Figure:
    """Return the bytes over the floor of each network, a panel for each capacity."""
    sizes = sorted(table["bytes"].unique())
    figure, axes = panels(1, len(sizes), 3.4 * len(sizes), 1.6 + 0.2 * table["network"].nunique())
    labels = {"tiles_bytes": "nothing kept (Cocco)", "kept_bytes": "tensors kept on chip (ours)"}
    for each, size in zip(axes, sizes):
        part = table[table["bytes"] == size]
        names = [title(name) for name in part["network"]]
        for style, (column, label) in zip(LINES, labels.items()):
            over = part[column] / part["floor_bytes"]
            each.plot(over, range(len(over)), label=label, markersize=4, **{**style, "linestyle": "none"})
        each.axvline(1, color="black", linestyle=":")
        each.set_xscale("log")
        log_labels(each.xaxis)
        each.set_yticks(range(len(names)), names if each is axes[0] else [""] * len(names), fontsize=7)
        each.invert_yaxis()
        each.set_title(f"{size // KiB:,} KB", size=9)
        each.set_xlabel("bytes over weights, inputs, outputs once")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "network_traffic",
    "What is the least traffic of each built-in network, with and without tensors kept on chip?",
    rows,
    plot,
    Seconds(quick=10, full=480),
    full={"networks": NETWORKS, "samples": 2_000},
    quick={"networks": ("resnet50", "googlenet"), "samples": 1_000},
    keeps=True,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
