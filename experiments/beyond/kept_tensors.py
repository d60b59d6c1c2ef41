"""Tensors kept on chip between subgraphs (ours): what that saves over the capacity, and which memory to build then."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.problem.names import Keep
from experiments.common import command, least_traffic
from experiments.common.drawing import LINES, over_capacity
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.common.searches import ALPHA, WIDE, kb, left, method_of
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.technology import KiB

NETWORKS = ("vgg16", "resnet50", "resnet152", "googlenet", "gpt", "randwire_a", "randwire_b", "nasnet", "transformer")
KILOBYTES = (256, 512, 1024, 2048)  #: one memory for weights and activations
WIDE_KILOBYTES = (512, 1024, 2048)  #: of networks that are searched, not proven; our choice: they take long
WAYS: tuple[Keep, ...] = ("none", "auto")  #: the paper's plans, and those that may keep tensors
MEMORY = "chosen"  #: in the column `memory`: the row is the memory that a co-exploration recommends
COLUMNS = (
    "floor_bytes", "tensors_bytes", "ema_bytes", "ema_status", "ema_gap", "energy_pj", "energy_status", "energy_gap",
    "cost", "kept_tensors", "verified",
)  # fmt: skip


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int, kilobytes: Sequence[int]) -> list[Point]:
    """Return two rows per network and capacity, keep none and auto, and two with the memories recommended.

    On a given memory the bytes are those of the least EMA and the energy that of the least energy: two plans. The
    recommended memory has least cost by Formula 2 with energy.
    """
    common = {"samples": samples, "seed": seed}
    chosen = compute(recommended, [{"network": name, "keep": keep, **common} for name in networks for keep in WAYS])
    given = [{"network": name, "bytes": size * KiB, **common} for name in networks for size in kilobytes
             if name not in WIDE or size in WIDE_KILOBYTES]  # fmt: skip
    tiles, kept = compute(least_traffic.tiled, given), compute(least_traffic.tensors_and_kept, given)
    energy = compute(least_energy, [{**point, "keep": keep} for point in given for keep in WAYS])
    found = [_given(tiles[i // 2], kept[i // 2], row) for i, row in enumerate(energy)]
    return found + [_row(row, MEMORY) for row in chosen]


def _given(tiles: Point, kept: Point, energy: Point) -> Point:
    """Return the row of one way on a given memory: the least that it moves, and its least energy."""
    way, moved = ("tiles", tiles) if energy["keep"] == "none" else ("kept", kept)
    more = {f"ema_{name}": moved[f"{way}_{name}"] for name in ("bytes", "status", "gap")}
    shared = {name: kept[name] for name in ("floor_bytes", "tensors_bytes")}
    return _row({**energy, **more, **shared, "kilobytes": tiles["bytes"] // KiB}, "given")


def _row(row: Point, memory: str) -> Point:
    names = ("network", "keep", "kilobytes", *COLUMNS, "samples", "seed")
    return {"memory": memory, **{name: row.get(name) for name in names}}


def least_energy(point: Point) -> Point:
    """Return the least energy on a given memory."""
    network, chip = workloads.load(point["network"]), Accelerator(shared_buffer=point["bytes"])
    found = cocco.partition(
        network, chip, metric="energy", keep=point["keep"], method=method_of(point["network"]),
        samples=point["samples"], seed=point["seed"], bank=left(),
    )  # fmt: skip
    fits = math.isfinite(found.cost)
    return {
        "energy_pj": found.cost if fits else None,
        "energy_status": found.status,
        "energy_gap": found.gap if fits else None,
        "kept_tensors": len(found.plan.keep) if fits else None,
    }


def recommended(point: Point) -> Point:
    """Return the memory that a co-exploration recommends; its plan is executed."""
    from simulator.execution import verify

    network = workloads.load(point["network"])
    result = cocco.explore(
        network, alpha=ALPHA, metric="energy", keep=point["keep"], method=method_of(point["network"]),
        samples=point["samples"], seed=point["seed"], ranges=False, bank=left(),
    )  # fmt: skip
    return {
        "floor_bytes": least_traffic.must_cross(network),
        "kilobytes": kb(result.accelerator.buffer_bytes),
        "ema_bytes": result.evaluation.ema_bytes,
        "energy_pj": result.evaluation.energy_pj,
        "energy_status": result.status,
        "energy_gap": result.gap,
        "cost": result.cost,
        "kept_tensors": len(result.plan.keep),
        "verified": verify(network, result.plan, result.accelerator).verified,
    }


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network: bytes over capacity of three ways, the floor, and the memories recommended."""
    figure, axes = over_capacity(table, "off-chip (million bytes)")
    for each, part in axes:
        _draw(each, part)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("Bytes across DRAM; vertical lines: the memory that a co-exploration of energy recommends", size=10)
    return figure


def _draw(axes: Axes, table: pandas.DataFrame) -> None:
    from matplotlib.ticker import StrMethodFormatter

    labels = {"none": "every tensor between subgraphs through DRAM (Cocco)", "auto": "tensors kept on chip"}
    given = table[table["memory"] == "given"]
    for style, (keep, label) in zip(LINES, labels.items()):
        part = given[(given["keep"] == keep) & given["ema_bytes"].notna()]
        axes.plot(part["kilobytes"], part["ema_bytes"] / 1e6, label=label, markersize=4, **style)
        for size in table[(table["memory"] == MEMORY) & (table["keep"] == keep)]["kilobytes"]:
            axes.axvline(size, color=style["color"], linestyle=style["linestyle"], linewidth=0.8)
    whole = given[(given["keep"] == "none") & given["tensors_bytes"].notna()]
    axes.plot(whole["kilobytes"], whole["tensors_bytes"] / 1e6, label="whole tensors (COSMA)", markersize=4, **LINES[2])
    axes.axhline(given["floor_bytes"].iloc[0] / 1e6, color="black", linestyle=":", label="weights, inputs, outputs")
    axes.set_xscale("log", base=2)
    for axis, form in ((axes.xaxis, "{x:,.0f}"), (axes.yaxis, "{x:,.4g}")):
        axis.set_major_formatter(StrMethodFormatter(form))
    axes.tick_params(which="both", labelsize=7)


EXPERIMENT = Experiment(
    "kept_tensors",
    "What do tensors kept on chip between subgraphs save, and which memory is recommended then?",
    rows,
    plot,
    Seconds(quick=6, full=480),
    full={"networks": NETWORKS, "samples": 2_000, "kilobytes": KILOBYTES},
    quick={"networks": NETWORKS[1:2], "samples": 2_000, "kilobytes": KILOBYTES[1:3]},
    keeps=True,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
