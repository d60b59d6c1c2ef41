"""What a square millimetre is best spent on: the fastest chip within each area, and what takes its area."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.output.pictures.style import FILLS, stack
from experiments.common import command
from experiments.common.drawing import panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator import Machine, Technology
from simulator.chip.logic import NVDLA

NETWORKS = ("vgg16", "resnet50", "resnet152", "googlenet", "transformer", "gpt")  #: CNNs and language models (Cocco)
BUDGETS_MM2 = (3.0, 6.0, 12.0)  #: our choice: one core of the paper's array takes 2.5 mm2 with LPDDR5
AXES: dict[str, list[Any]] = {
    "pe": ["4x4", "4x8", "8x8"], "lanes": ["8x8", "16x16"], "cores": [1, 2], "dram": ["lpddr5", "hbm2e"],
    "channels": [1, 2, 4],
}  # fmt: skip
PARTS = ("cores", "macs", "buffers", "ports", "phy")  #: of simulator.chip.area.Area that are not 0


def rows(compute: Compute, seed: int, networks: Sequence[str], areas: Sequence[float]) -> list[Point]:
    """Return one row per network and area: the fastest chip, by what takes its area, and how it is proved."""
    points: list[Point] = [{"network": name, "budget_mm2": each, "seed": seed} for name in networks for each in areas]
    return compute(fastest, points)


def fastest(point: Point) -> Point:
    """Return the chip of the least latency (the sum over subgraphs) within an area."""
    machine = Machine(technology=Technology(logic=NVDLA))
    found = cocco.explore_chips(
        workloads.load(point["network"]), AXES, machine=machine, minimized="latency", seed=point["seed"],
        limits={"area": point["budget_mm2"]},
    )  # fmt: skip
    if found.chip is None or found.accelerator is None:
        return {"status": found.status}
    evaluation, area = found.evaluations[0], found.accelerator.chip_area._asdict()
    return {
        "status": found.status, **found.chip.axes, "memory_bytes": found.accelerator.buffer_bytes,
        **{f"{name}_mm2": area[name] for name in PARTS}, "area_mm2": found.accelerator.chip_area.total,
        "latency_ms": found.cost * 1e-6, "energy_pj": evaluation.energy_pj, "gap": found.gap,
        "machines": len(found.machines), "ruled_out": sum("ruled out" in row["verdict"] for row in found.machines),
    }  # fmt: skip


def plot(table: pandas.DataFrame) -> Figure:
    """Return a panel per network: for each budget the area by what takes it, with the latency on top."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(4.8, 2.1 * len(names)), 3.4)
    for each, name in zip(axes, names):
        own = table[table["network"] == name].dropna(subset=["area_mm2"])
        stack(each, {part: own[f"{part}_mm2"].tolist() for part in PARTS}, FILLS)
        for i, (height, ms) in enumerate(zip(own["area_mm2"], own["latency_ms"])):
            each.annotate(f"{ms:.3g} ms", (i, height), ha="center", va="bottom", fontsize=8)
        each.set_xticks(range(len(own)), [f"{budget:g}" for budget in own["budget_mm2"]])
        each.set_ylim(top=1.15 * max(own["area_mm2"], default=1.0))
        each.set_xlabel("at most (mm2)")
        each.set_title(title(name), size=10)
    axes[0].set_ylabel("chip (mm2)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(PARTS), fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "chips",
    "What is a square millimetre of chip best spent on?",
    rows,
    plot,
    Seconds(quick=15, full=200),
    full={"networks": NETWORKS, "areas": BUDGETS_MM2},
    quick={"networks": ("vgg16",), "areas": BUDGETS_MM2[:2]},
    keeps=True,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
