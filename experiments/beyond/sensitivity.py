"""How much does the recommendation hang on the technology? DRAM, SRAM and MAC energy halved and doubled.

    python -m experiments.sensitivity [--quick] [-o DIR] [--workers N]

For each constant the memory that would be recommended if it were half or twice ours, and the regret: how much more
Formula 2 costs, under the changed constant, on the memory recommended under ours (with the best partition found there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

import cocco
import workloads
from experiments.common import command, searches
from experiments.common.drawing import title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.technology import Technology

NETWORKS = ("vgg16", "resnet50", "googlenet", "transformer", "randwire_a", "nasnet")
CONSTANTS = {
    "DRAM": ("dram_pj_per_byte",),
    "SRAM": ("sram_base_pj_per_byte", "sram_root_pj_per_byte"),
    "MAC": ("operation_pj",),
}  #: what is scaled, by its fields in Technology
FACTORS = (0.5, 2.0)
MARKERS = {0.5: ("v", "white", "halved"), 2.0: ("^", "black", "doubled")}


def rows(compute: Compute, seed: int, networks: Sequence[str], samples: int, case: Mapping[str, Any]) -> list[Point]:
    """Return one row per network and changed constant; the first of each network changes nothing."""
    cases = [("none", 1.0), *((constant, factor) for constant in CONSTANTS for factor in FACTORS)]
    common = {"samples": samples, "seed": seed, **case}
    points = [
        {"network": name, "constant": constant, "factor": factor, "memory": None, **common}
        for name in networks
        for constant, factor in cases
    ]
    found = compute(recommend, points)
    ours = {row["network"]: row["shared_buffer_bytes"] for row in found if row["constant"] == "none"}
    stayed = compute(recommend, [point | {"memory": ours[point["network"]]} for point in points])
    table = []
    for best, same in zip(found, stayed):
        if same["cost"] < best["cost"]:  # a search at one memory may find better there
            best = same
        stays = best["shared_buffer_bytes"] == ours[best["network"]]  # then its plan runs in ours as well
        regret = 0.0 if stays else 100 * (same["cost"] / best["cost"] - 1)
        table.append(best | {"ours_bytes": ours[best["network"]], "regret_percent": regret})
    return [{name: value for name, value in row.items() if name != "memory"} for row in table]


def recommend(point: Point) -> Point:
    """Return the memory to build where a constant is scaled by a factor; memory: the only candidate, if given."""
    memory = point["memory"]
    best = cocco.explore(
        workloads.load(point["network"]),
        space=cocco.SharedBuffer() if memory is None else cocco.SharedBuffer(memory, memory, 1),
        alpha=point.get("alpha", searches.ALPHA), metric="energy", samples=point["samples"],
        seed=point["seed"], ranges=False, technology=technology(point["constant"], point["factor"]),
        bank=searches.left(), **searches.machine(point),
    )  # fmt: skip
    return {
        "shared_buffer_bytes": best.accelerator.shared_buffer,
        "energy_pj": best.evaluation.energy_pj,
        "ema_bytes": best.evaluation.ema_bytes,
        "cost": best.cost,
        "status": best.status,
    }


def technology(constant: str, factor: float) -> Technology:
    """Return our technology with one constant scaled; "none" changes nothing."""
    ours = Technology()
    return Technology(**{field: factor * getattr(ours, field) for field in CONSTANTS.get(constant, ())})


def plot(table: pandas.DataFrame) -> Figure:
    """Return, per network, the capacity recommended and the regret of ours, by constant."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(table["network"]))
    figure = Figure(figsize=(1.6 + 1.3 * len(names), 4.9), layout="constrained")
    rows = figure.subplots(2, len(names), sharey="row", squeeze=False)
    for column, name in enumerate(names):
        mine = table[(table["network"] == name) & (table["constant"] != "none")]
        for row, value, scale in ((0, "shared_buffer_bytes", 2.0**-10), (1, "regret_percent", 1.0)):
            axes = rows[row][column]
            axes.grid(axis="y", color="0.9", linewidth=0.6)
            axes.set_axisbelow(True)
            for factor, (marker, fill, label) in MARKERS.items():
                chosen = mine[mine["factor"] == factor]
                axes.plot(
                    chosen["constant"], chosen[value] * scale, marker, markersize=8, color="black",
                    markerfacecolor=fill, label=label, linestyle="none",
                )  # fmt: skip
            axes.set_xlim(-0.5, len(CONSTANTS) - 0.5)
        ours = float(mine["ours_bytes"].iloc[0]) / 1024
        rows[0][column].axhline(ours, color="0.4", linestyle="--", linewidth=1, label="our constants")
        rows[0][column].set_title(f"{title(str(name))}\n{ours:,.0f} KB", size=10)
        rows[0][column].tick_params(labelsize=8)
        rows[1][column].tick_params(labelsize=8)
        rows[1][column].set_xlabel("energy of")
    rows[0][0].set_ylim(0, 1.1 * float(table["shared_buffer_bytes"].max()) / 1024)
    most = max(1.0, float(table["regret_percent"].max()))
    rows[1][0].set_ylim(-0.1 * most, 1.1 * most)
    rows[0][0].set_ylabel("recommended capacity (KB)")
    rows[1][0].set_ylabel("regret of ours (% of cost)")
    figure.legend(*rows[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "sensitivity",
    str(__doc__).splitlines()[0],
    rows,
    plot,
    Seconds(quick=30, full=600),
    full={"networks": NETWORKS, "samples": 20_000},
    quick={"networks": ("resnet50", "googlenet"), "samples": 2_000},
    axes=("alphas", "cores", "batch"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
