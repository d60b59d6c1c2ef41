"""Tables 1 and 2 of the paper: fixed hardware, two-step and co-optimised memories, on four networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas
from matplotlib.figure import Figure

from experiments.common import drawing, published, searches
from experiments.common.drawing import PAPER_STYLE, panels
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.common.published import with_paper
from experiments.sweep.points import Point
from simulator.technology import KiB

FIXED = {
    "separate": {
        "Buf(S)": {"global_buffer": 512 * KiB, "weight_buffer": 576 * KiB},
        "Buf(M)": {"global_buffer": 1024 * KiB, "weight_buffer": 1152 * KiB},
        "Buf(L)": {"global_buffer": 2048 * KiB, "weight_buffer": 2304 * KiB},
    },
    "shared": {
        "Buf(S)": {"shared_buffer": 576 * KiB},
        "Buf(M)": {"shared_buffer": 1152 * KiB},
        "Buf(L)": {"shared_buffer": 2304 * KiB},
    },
}  #: Cocco, Tables 1 and 2
TITLES = {"separate": "Separate buffers", "shared": "One shared buffer"}
SPREAD = "least to most of the seeds (bars: their median)"
PAPER_CASE = {"alpha": searches.ALPHA, "cores": 1, "batch": 1}
SIZES = {"separate": ("global_kb", "weight_kb"), "shared": ("shared_kb",)}


def experiment(space: str, question: str, seconds: Seconds) -> Experiment:
    """Return the experiment of Table 1 (space "separate") or 2 ("shared")."""
    return Experiment(
        f"coexploration_{space}",
        question,
        partial(_rows, space),
        partial(_plot, TITLES[space]),
        seconds,
        full={"networks": searches.FOUR, "samples": searches.SAMPLES, "seeds": 1},
        quick={"networks": searches.FOUR[:2], "samples": 10_000},
        axes=("alphas", "cores", "batch"),
    )


def _rows(
    space: str, compute: Compute, seed: int, networks: Sequence[str], samples: int, seeds: int, case: Mapping[str, Any]
) -> list[Point]:
    """Return one row per network, method and seed, in the order of the table; costs by Formula 2, alpha 0.002.

    seeds: seed, seed + 1, ...; so many. The paper's numbers are beside those of its own alpha, cores and batch only.
    """
    all_seeds = range(seed, seed + seeds)
    hardware = [
        {"network": name, "method": label, "hardware": chip, "samples": samples, "seed": each, **case}
        for name in networks
        for label, chip in FIXED[space].items()
        for each in all_seeds
    ]
    chosen = [
        searches.point(name, space, label, seed=each, samples=samples, **case)
        for name in networks
        for label in searches.METHODS
        for each in all_seeds
    ]
    rows = compute(searches.fixed, hardware) + compute(searches.tabled, chosen)
    rows.sort(key=lambda row: networks.index(row["network"]))  # stable: the methods keep their order
    for name in networks:
        _measure_gaps([row for row in rows if row["network"] == name and "space" in row])
    is_paper = all(case.get(name, value) == value for name, value in PAPER_CASE.items())
    return [with_paper(_row(row, space), _paper(space, row, is_paper)) for row in rows]


def _measure_gaps(rows: Sequence[Point]) -> None:
    """Set the gap of each co-exploration of one network to the best lower bound that any of them knows."""
    bound = max(row["lower_bound"] for row in rows)
    for row in rows:
        row["gap"] = (row["cost"] - bound) / row["cost"]
        row["status"] = "optimal" if row["gap"] <= 0 else row["status"]


def _row(row: Point, space: str) -> Point:
    """Return the columns of the table."""
    names = (
        "network", "method", *SIZES[space], "cost", "found_cost", "energy_pj", "ema_bytes", "subgraphs", "samples",
        "seed", "status", "gap",
    )  # fmt: skip
    return {name: row.get(name) for name in names}


def _paper(space: str, row: Mapping[str, Any], is_paper: bool) -> Mapping[str, float | None]:
    """Return the paper's row, empty where it has none; that of Cocco for both of our genetic algorithms."""
    table = (published.TABLE_1 if space == "separate" else published.TABLE_2) if is_paper else {}
    method = "Cocco" if row["method"].startswith("Cocco") else row["method"]
    found = table.get(row["network"], {}).get(method)
    return dict(zip((*SIZES[space], "cost"), found or (None,) * 3))


def _plot(title: str, table: pandas.DataFrame) -> Figure:
    """Return a panel per network: the cost by method, ours as bars and the paper's as marks."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(6.4, 2.6 * len(names)), 4)
    for each, name in zip(axes, names):
        seeds = table[table["network"] == name].groupby("method", sort=False)
        rows = seeds[["cost", "paper_cost", "found_cost"]].median()
        ours = [float(value) / 1e6 for value in rows["cost"]]
        paper = [float(value) / 1e6 for value in rows["paper_cost"]]
        methods = [str(method) for method in rows.index]
        colours = [{"B": "0.85", "C": "0.35"}.get(method[0], "0.65") for method in methods]
        each.bar(range(len(ours)), ours, 0.75, color=colours, edgecolor="black", linewidth=0.5, label="ours")
        each.plot(range(len(ours)), paper, label="the paper", **PAPER_STYLE)
        before = [float(value) / 1e6 for value in rows["found_cost"]]
        each.plot(range(len(ours)), before, "_", color="black", markersize=11, label="before the final search")
        if table["seed"].nunique() > 1:
            least, most = (getattr(seeds["cost"], end)() / 1e6 for end in ("min", "max"))
            spread = [rows["cost"] / 1e6 - least, most - rows["cost"] / 1e6]
            each.errorbar(range(len(ours)), ours, spread, fmt="none", color="black", capsize=3, label=SPREAD)
        each.set_xticks(range(len(ours)), methods, rotation=60, ha="right", rotation_mode="anchor")
        each.set_title(drawing.title(name), size=10)
    axes[0].set_ylabel("cost (million bytes)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"{title}: capacity + alpha x energy, Formula 2", size=10)
    return figure
