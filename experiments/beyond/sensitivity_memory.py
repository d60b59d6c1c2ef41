"""Which recommendations survive other memory: SRAM tables, kinds of DRAM, and errors of 2x on each of their numbers?

    python -m experiments.sensitivity_memory [--quick] [-o DIR] [--workers N]

The shared buffer recommended for each network under the paper's constants and under each table and kind, with the sizes
that cost at most 1 and 3 % more, proven where the search is; and the regret: how much more Formula 2 costs there on the
size recommended under the paper's constants. The clock is 1 GHz, so sizes that miss it are no candidates; where all do
there is no recommendation. Not scaled: area, which no cost of bytes counts, and an operation's energy, which all share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas
from matplotlib.figure import Figure

import cocco
import workloads
from cocco.problem.buildable import missed
from experiments.common import command, searches
from experiments.common.drawing import title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator import Sram, SramTable, Technology, find_table
from simulator.memory.dram import fields_of

SAMPLES = {"resnet50": 20_000, "googlenet": 20_000, "randwire_a": 20_000, "nasnet": 5_000}  #: the first two are proven
PAPER = "paper"
TABLES = ("cacti7_22nm_hp", "cacti7_22nm_lop", "cacti7_22nm_lstp")
KINDS = ("lpddr4x", "lpddr5", "ddr4", "hbm2e")
FACTORS = (0.5, 2.0)
OF_DRAM = ("DRAM energy", "DRAM bandwidth")
SCALED = {
    "SRAM energy": ("read_pj_per_byte", "write_pj_per_byte"),
    "leakage": ("leakage_mw",),
    "cycle time": ("cycle_ns",),
}  #: of a table, by rows
SPACE = cocco.SharedBuffer()
ANSWERS = (
    "shared_buffer_bytes", "low_1", "high_1", "open_1", "low_3", "high_3", "open_3", "energy_pj", "dram_pj", "sram_pj",
    "leakage_pj", "area_mm2", "leakage_mw", "missed_clock", "cost", "status", "costs",
)  # fmt: skip  #: of a recommendation, in the order of the table


def cases() -> list[Point]:
    """Return the technologies: the paper's, each table, each kind of DRAM, and what an error of 2x makes of them."""
    nothing: Point = {"sram": PAPER, "dram": PAPER, "changed": "none", "factor": 1.0}
    found = [nothing]
    found += [nothing | {"sram": table} for table in TABLES]
    found += [nothing | {"dram": kind} for kind in KINDS]
    found += [nothing | {"changed": changed, "factor": factor} for changed in OF_DRAM for factor in FACTORS]
    for table in TABLES:
        for changed in SCALED:
            found += [nothing | {"sram": table, "changed": changed, "factor": factor} for factor in FACTORS]
    return found


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int | None, case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network and technology, the first of each network the paper's; samples: None for SAMPLES."""
    counts = {name: samples or SAMPLES.get(name, min(SAMPLES.values())) for name in networks}
    points = [{"network": name, **each, "samples": n, "seed": seed, **case} for name, n in counts.items()
              for each in cases()]  # fmt: skip
    found = compute(recommend, points)
    ours = {row["network"]: row["shared_buffer_bytes"] for row in found if _is_paper(row)}
    table = []
    for row in found:
        costs: dict[str, float] = row["costs"]
        same = costs.get(str(ours[row["network"]]))
        regret = None if same is None else 100 * (same / row["cost"] - 1)  # None: our size misses the clock
        shown = {name: value for name, value in row.items() if name != "costs"}
        table.append(shown | {"ours_bytes": ours[row["network"]], "regret_percent": regret})
    return table


def recommend(point: Point) -> Point:
    """Return the memory to build with one technology, and what is known of the other sizes; None where all are slow."""
    chosen = technology(point["sram"], point["dram"], point["changed"], point["factor"])
    slow = {size for sizes in missed(SPACE.buffers, chosen).values() for size in sizes}
    if slow.issuperset(*SPACE.buffers.values()):
        return dict.fromkeys(ANSWERS) | {"missed_clock": len(slow), "status": "all miss the clock", "costs": {}}
    best = cocco.explore(
        workloads.load(point["network"]), space=SPACE, metric="energy", samples=point["samples"],
        seed=point["seed"], technology=chosen, alpha=point.get("alpha", searches.ALPHA), **searches.machine(point),
    )  # fmt: skip
    ranges, parts = best.ranges, best.evaluation.energy_breakdown
    assert ranges is not None and parts is not None
    ends: Point = {}
    for margin in (0.01, 0.03):
        sizes = [each.size_bytes for each in ranges.of_kind("within", margin)]
        ends |= {f"low_{100 * margin:g}": min(sizes), f"high_{100 * margin:g}": max(sizes)}
        ends[f"open_{100 * margin:g}"] = len(ranges.of_kind("open", margin))
    return {
        "shared_buffer_bytes": best.accelerator.shared_buffer,
        **ends,
        "energy_pj": best.evaluation.energy_pj,
        "dram_pj": parts.dram,
        "sram_pj": parts.global_buffer + parts.weight_buffer,
        "leakage_pj": parts.leakage or 0.0,
        "area_mm2": best.accelerator.area_mm2,
        "leakage_mw": best.accelerator.leakage_mw,
        "missed_clock": len(slow),
        "cost": best.cost,
        "status": best.status,
        "costs": {str(each.size_bytes): each.cost for each in ranges.candidates if each.cost is not None},
    }


def technology(sram: str, dram: str, changed: str, factor: float) -> Technology:
    """Return the paper's technology with a table and a kind of DRAM in its place, one number scaled."""
    fields: dict[str, Any] = {} if dram == PAPER else fields_of(dram, Technology().clock_ghz)
    if sram != PAPER:
        cells = Sram(scaled(find_table(sram), SCALED.get(changed, ()), factor))
        fields |= {"activation_sram": cells, "weight_sram": cells}
    found = Technology(**fields)
    if changed == "DRAM energy":
        return replace(found, dram_pj_per_byte=factor * found.dram_pj_per_byte)
    if changed == "DRAM bandwidth":
        return replace(found, dram_bytes_per_cycle=int(factor * found.dram_bytes_per_cycle))
    return found


def scaled(table: SramTable, columns: Sequence[str], factor: float) -> SramTable:
    """Return a table with some columns multiplied."""
    found = [row._replace(**{name: factor * getattr(row, name) for name in columns}) for row in table.rows]
    return replace(table, rows=tuple(found))


def plot(table: pandas.DataFrame) -> Figure:
    """Return, per network, each technology's recommendation with its sizes within 1 and 3 %."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(table["network"]))
    figure = Figure(figsize=(2.8 + 2.2 * len(names), 6.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), sharey=True, squeeze=False)[0], names):
        mine = table[table["network"] == name].reset_index(drop=True)  # rows in the order of `cases`
        for margin, shade in ((3, "0.82"), (1, "0.55")):
            low, high = mine[f"low_{margin}"] / 1024, mine[f"high_{margin}"] / 1024
            axes.barh(mine.index, high - low + 40, left=low - 20, color=shade, height=0.6, label=f"within {margin} %")
        axes.plot(mine["shared_buffer_bytes"] / 1024, mine.index, "*", color="black", markersize=8, label="recommended")
        axes.axvline(mine["ours_bytes"].iloc[0] / 1024, color="0.3", linestyle="--", linewidth=1)
        for place in mine.index[mine["shared_buffer_bytes"].isna()]:
            axes.text(0.02, place, "no size meets the clock", size=7, va="center", transform=axes.get_yaxis_transform())
        axes.set_title(title(str(name)), size=10)
        axes.set_xlabel("shared buffer (KB)")
        axes.grid(axis="x", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlim(0, 1.05 * float(mine["high_3"].max()) / 1024)
    titles = list(dict.fromkeys(_title(row) for row in table.to_dict("records")))
    axes.set_yticks(range(len(titles)), titles, size=8)
    axes.invert_yaxis()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _title(row: dict[Any, Any]) -> str:
    """Return what a technology differs in from the paper's."""
    parts = [str(row[key]).removeprefix("cacti7_22nm_") for key in ("sram", "dram") if row[key] != PAPER]
    if row["changed"] != "none":
        parts.append(f"{row['changed']} x {row['factor']:g}")
    return ", ".join(parts) or "the paper's"


def _is_paper(row: Point) -> bool:
    return bool(row["sram"] == row["dram"] == PAPER and row["changed"] == "none")


EXPERIMENT = Experiment(
    "sensitivity_memory",
    str(__doc__).splitlines()[0],
    rows,
    plot,
    Seconds(quick=60, full=1800),
    full={"networks": tuple(SAMPLES), "samples": None},
    quick={"networks": ("googlenet",), "samples": 1_000},
    axes=("alphas", "cores", "batch"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
