"""Tensors kept on chip between subgraphs (ours): what that saves over the capacity, and which memory to build then."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import cocco
import workloads
from cocco.problem.names import Keep
from cocco.scheduling.searches.beam import WIDTH
from experiments.common import command
from experiments.common.drawing import LINES, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.common.searches import ALPHA
from experiments.sweep.points import Point
from simulator.accelerator import Accelerator
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import compulsory_bytes
from simulator.technology import KiB

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NETWORKS = ("vgg16", "resnet50", "resnet152", "googlenet", "transformer", "gpt", "randwire_a", "randwire_b", "nasnet")
KILOBYTES = (256, 512, 896, 1152, 2048, 3072)  #: one memory for weights and activations
LIMIT = 10.0  #: deterministic time of the solver of whole-tensor schedules
WAYS: tuple[Keep, ...] = ("none", "auto")  #: the paper's plans, and those that may keep tensors
MEMORY = "chosen"  #: in the column `memory`: the row is the memory that a co-exploration recommends


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int, kilobytes: Sequence[int]) -> list[Point]:
    """Return two rows per network and capacity, keep none and auto, and two with the memories recommended.

    On a given memory the bytes are those of the least EMA and the energy that of the least energy: two plans. The
    recommended memory has least cost by Formula 2 with energy.
    """
    common = {"samples": samples, "seed": seed}
    given = [{"network": name, "kilobytes": size, "keep": keep, **common} for name in networks for size in kilobytes
             for keep in WAYS]  # fmt: skip
    chosen = [{"network": name, "keep": keep, **common} for name in networks for keep in WAYS]
    whole = [{"network": name, "kilobytes": size, "limit": LIMIT} for name in networks for size in kilobytes]
    tensors = {(row["network"], row["kilobytes"]): row["tensors_bytes"] for row in compute(scheduled, whole)}
    found = [
        {**_row(row, "given"), "tensors_bytes": tensors[row["network"], row["kilobytes"]]}
        for row in compute(partitioned, given)
    ]
    return found + [{**_row(row, MEMORY), "tensors_bytes": None} for row in compute(recommended, chosen)]


def _row(row: Point, memory: str) -> Point:
    names = (
        "network", "keep", "kilobytes", "floor_bytes", "ema_bytes", "ema_status", "ema_gap", "energy_pj",
        "energy_status", "energy_gap", "kept_tensors", "verified", "cost", "samples", "seed",
    )  # fmt: skip
    return {"memory": memory, **{name: row.get(name) for name in names}}


def partitioned(point: Point) -> Point:
    """Return the least bytes and the least energy on a given memory."""
    network, chip = workloads.load(point["network"]), Accelerator(shared_buffer=point["kilobytes"] * KiB)
    answer: Point = {"floor_bytes": compulsory_bytes(operators_of(network, parameters=True))}
    for metric in ("ema", "energy"):
        result = cocco.partition(
            network, chip, metric=metric, keep=point["keep"], samples=point["samples"], seed=point["seed"]
        )
        fits = math.isfinite(result.cost)
        answer["ema_bytes" if metric == "ema" else "energy_pj"] = result.cost if fits else None
        answer |= {f"{metric}_status": result.status, f"{metric}_gap": result.gap}
        answer["kept_tensors"] = len(result.plan.keep) if fits else None
    return answer


def recommended(point: Point) -> Point:
    """Return the memory that a co-exploration recommends; its plan is executed."""
    from simulator.execution import verify

    network = workloads.load(point["network"])
    result = cocco.explore(
        network, alpha=ALPHA, metric="energy", keep=point["keep"], samples=point["samples"], seed=point["seed"],
        ranges=False,
    )  # fmt: skip
    return {
        "floor_bytes": compulsory_bytes(operators_of(network, parameters=True)),
        "kilobytes": result.accelerator.buffer_bytes // KiB,
        "ema_bytes": result.evaluation.ema_bytes,
        "energy_pj": result.evaluation.energy_pj,
        "energy_status": result.status,
        "energy_gap": result.gap,
        "cost": result.cost,
        "kept_tensors": len(result.plan.keep),
        "verified": verify(network, result.plan, result.accelerator).verified,
    }


def scheduled(point: Point) -> Point:
    """Return what whole tensors move (COSMA), None where the largest operator does not fit."""
    network = workloads.load(point["network"])
    must = compulsory_bytes(operators_of(network, parameters=True))
    found = cocco.schedule(
        network, point["kilobytes"] * KiB, parameters=True, limit=point["limit"], width=WIDTH // 2
    )  # fmt: skip
    return {"tensors_bytes": None if found.offchip_bytes is None else must + found.offchip_bytes}


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network: bytes over capacity of three ways, the floor, and the memories recommended."""
    names = list(dict.fromkeys(table["network"]))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    figure, axes = panels(lines, columns, 3.7 * columns, 2.9 * lines)
    for each, name in zip(axes, names):
        _draw(each, table[table["network"] == name])
        each.set_title(title(name), size=9)
    for each in axes[len(names) :]:
        each.set_visible(False)
    for each in axes[::columns]:
        each.set_ylabel("off-chip (MB)")
    for each in axes[max(0, len(names) - columns) : len(names)]:
        each.set_xlabel("one memory (KB)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("Bytes across DRAM; vertical lines: the memory that a co-exploration of energy recommends", size=10)
    return figure


def _draw(axes: Axes, table: pandas.DataFrame) -> None:
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    labels = {"none": "every tensor between subgraphs through DRAM (Cocco)", "auto": "tensors kept on chip"}
    given = table[table["memory"] == "given"]
    for style, (keep, label) in zip(LINES, labels.items()):
        part = given[(given["keep"] == keep) & given["ema_bytes"].notna()]
        axes.plot(part["kilobytes"], part["ema_bytes"] / 2**20, label=label, markersize=4, **style)
        for size in table[(table["memory"] == MEMORY) & (table["keep"] == keep)]["kilobytes"]:
            axes.axvline(size, color=style["color"], linestyle=style["linestyle"], linewidth=0.8)
    whole = given[(given["keep"] == "none") & given["tensors_bytes"].notna()]
    axes.plot(
        whole["kilobytes"], whole["tensors_bytes"] / 2**20, label="whole tensors (COSMA)", markersize=4, **LINES[2]
    )
    axes.axhline(given["floor_bytes"].iloc[0] / 2**20, color="black", linestyle=":", label="weights, inputs, outputs")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for axis, form in ((axes.xaxis, "{x:,.0f}"), (axes.yaxis, "{x:,.3g}")):
        axis.set_major_formatter(StrMethodFormatter(form))
    axes.yaxis.set_minor_formatter(StrMethodFormatter("{x:,.3g}"))
    axes.yaxis.set_minor_locator(LogLocator(subs=(1.5, 2, 3, 5, 7)))
    axes.tick_params(which="both", labelsize=7)


EXPERIMENT = Experiment(
    "kept_tensors",
    "What do tensors kept on chip between subgraphs save, and which memory is recommended then?",
    rows,
    plot,
    Seconds(quick=20, full=900),
    full={"networks": NETWORKS, "samples": 20_000, "kilobytes": KILOBYTES},
    quick={"networks": NETWORKS[1:2], "samples": 2_000, "kilobytes": KILOBYTES[1:3]},
)
run = EXPERIMENT.run


if __name__ == "__main__":
    sys.exit(command.main(EXPERIMENT))
