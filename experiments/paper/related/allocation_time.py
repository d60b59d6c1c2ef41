"""How long do our allocator and exact solvers take, and how much does that vary? (TelaMalloc, Figures 12 and 13)

    python -m experiments.allocation_time [--instances FILE.csv ...] [--factors 1.1 ...] [--seeds N] [--quick]

One row per instance, part of it, capacity, method and seed. A seed is another order of the buffers, by which every
method breaks its ties. All limits are counted: nodes of our search and of HiGHS, and CP-SAT's deterministic
time. `cpu_seconds`, with preparing and building, are those of one core; all other columns repeat exactly.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas
from matplotlib.figure import Figure

import cocco
from cocco.allocation.answer import Outcome
from cocco.allocation.exact.solvers import cp, ilp
from cocco.allocation.problem import AllocationProblem, make_problem
from experiments.common import command
from experiments.common.drawing import LINES, panels
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.paper.related import instances
from experiments.sweep.points import Point
from simulator.allocation.buffers import Allocation, Buffer
from simulator.allocation.judge import check_allocation

CP_NODES = 1_000  #: half a unit of CP-SAT's deterministic time, and as many conflicts
ILP_NODES = 1  #: of HiGHS, whose root alone takes most of its time
MOST_PAIRS = 5_000  #: of overlap in encodings of pairs; with more, what no limit counts takes minutes: "left out"

Solve = Callable[[AllocationProblem, int], Outcome]
SOLVERS: Mapping[str, Solve] = {
    "CP-SAT": lambda problem, capacity: cp(problem, capacity, False, CP_NODES),
    "CP-SAT pairs": lambda problem, capacity: cp(problem, capacity, False, CP_NODES, "pairs"),
    "HiGHS": lambda problem, capacity: ilp(problem, capacity, False, ILP_NODES),
}
OURS = "auto"
OF_PAIRS = ("CP-SAT pairs", "HiGHS")
METHODS = (OURS, *SOLVERS)
LABELS = {
    OURS: "auto (ours)",
    "CP-SAT": "CP-SAT, rectangles",
    "CP-SAT pairs": "CP-SAT, an order for each pair",
    "HiGHS": "HiGHS, the ILP",
}


def rows(
    compute: Compute,
    seed: int,
    files: Sequence[str],
    parts: Sequence[int | None],
    factors: Sequence[float],
    seeds: int,
    methods: Sequence[str],
) -> list[Point]:
    """Return one row per instance, part, capacity, method and seed.

    parts: how many buffers of an instance, those that start first; None for all. factors: capacity over the largest
    contention of the part. seeds: so many, from `seed` on.
    """
    digests = instances.checked_files(files)
    points = [
        {"file": file, "sha256": digests[file], "part": part, "factor": factor, "seed": each, "method": method}
        for part in parts
        for factor in factors
        for each in range(seed, seed + seeds)
        for method in methods
        for file in files
    ]
    shown = ("instance", "buffers", "pairs", "part", "factor", "capacity_bytes", "seed", "method")
    answers = [{**row, "part": row["part"] or "all"} for row in compute(answer, points)]
    return [{name: row[name] for name in (*shown, "status", "counted", "cpu_seconds")} for row in answers]


def answer(point: Point) -> Point:
    """Return how one method ends on one problem, what its limit counts, and CPU seconds; addresses are checked."""
    buffers = instances.first_buffers(point["file"], point["part"])
    capacity = instances.capacity_of(buffers, point["factor"])
    buffers = instances.shuffled(buffers, point["seed"])
    problem = make_problem(buffers)
    row: Point = {
        "instance": instances.name_of(point["file"]), "buffers": len(buffers), "capacity_bytes": capacity,
        "pairs": len(problem.neighbours) // 2, "status": "left out", "counted": 0, "cpu_seconds": None,
    }  # fmt: skip
    method = point["method"]
    if method in OF_PAIRS and row["pairs"] > MOST_PAIRS:
        return row
    solve = _ours if method == OURS else partial(_outcome, SOLVERS[method])
    solve([Buffer("first", 0, 1, 1)], 1)  # imports the solver, which no instance should pay for
    start = time.process_time()
    status, counted, allocation = solve(buffers, capacity)
    row |= {"cpu_seconds": time.process_time() - start, "status": status, "counted": counted}
    if allocation is not None and (broken := check_allocation(buffers, allocation, capacity)):
        raise AssertionError(f"{method} on {row['instance']}: {broken[0].message}")
    return row


def _ours(buffers: Sequence[Buffer], capacity: int) -> tuple[str, int, Allocation | None]:
    found = cocco.allocate(buffers, capacity, explain=False)
    return found.status.replace("optimal", "feasible"), found.nodes or 0, found.allocation


def _outcome(solve: Solve, buffers: Sequence[Buffer], capacity: int) -> tuple[str, int, Allocation | None]:
    problem = make_problem(buffers)
    found = solve(problem, capacity // problem.granule)
    if found.address is None:
        return found.status, found.nodes or 0, None
    addresses = {each.id: int(at) * problem.granule for each, at in zip(buffers, found.address)}
    return found.status, found.nodes or 0, Allocation(addresses)


def summary(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row per problem and method: how many seeds it decides; median, least and most CPU seconds of all.

    `over_ours`: the median over that of `auto`. A run that gave up counts with the time it took: a lower bound.
    """
    found = []
    keys = ["part", "factor", "instance", "method"]
    for key, mine in table[table["status"] != "left out"].groupby(keys, sort=False):
        seconds = mine["cpu_seconds"]
        decided = mine["status"].isin(["feasible", "infeasible"])
        found.append({
            **dict(zip(keys, key)), "buffers": int(mine["buffers"].iloc[0]), "seeds": len(mine),
            "decided": int(decided.sum()), "median": float(seconds.median()), "least": float(seconds.min()),
            "most": float(seconds.max()),
        })  # fmt: skip
    short = pandas.DataFrame(found)
    ours = short[short["method"] == OURS].set_index(keys[:-1])["median"]
    problems = pandas.MultiIndex.from_frame(short[keys[:-1]])
    return short.assign(over_ours=short["median"].to_numpy() / ours.reindex(problems).to_numpy())


def plot(table: pandas.DataFrame) -> Figure:
    """Return CPU seconds per instance: medians with least and most; hollow where not all seeds were decided."""
    short = summary(table)
    groups = list(short.groupby(["part", "factor"], sort=False))
    figure, axes = panels(len(groups), 1, 10, 0.6 + 3.1 * len(groups))
    for panel, ((part, factor), mine) in zip(axes, groups):
        _panel(panel, mine)
        which = "all buffers" if part == "all" else f"the first {part} buffers"
        panel.set_title(f"{which}, {factor:g} x the largest contention", fontsize=9)
    axes[0].legend(fontsize=7, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.1))
    return figure


def _panel(panel: Any, mine: pandas.DataFrame) -> None:
    names = list(dict.fromkeys(mine["instance"]))
    methods = [method for method in METHODS if method in {*mine["method"]}]
    for place, method in enumerate(methods):
        style = {**LINES[METHODS.index(method)], "linestyle": "none"}
        each = mine[mine["method"] == method]
        at = [names.index(name) + (place - (len(methods) - 1) / 2) * 0.15 for name in each["instance"]]
        reach = [each["median"] - each["least"], each["most"] - each["median"]]
        panel.errorbar(at, each["median"], yerr=reach, fmt="none", ecolor=style["color"], elinewidth=1, capsize=2)
        panel.plot([], [], **style, markeredgecolor="black", markeredgewidth=0.5, label=LABELS[method])
        for x, y, is_decided in zip(at, each["median"], each["decided"] == each["seeds"]):
            face = {} if is_decided else {"markerfacecolor": "white"}
            panel.plot([x], [y], **style, markersize=5, markeredgecolor="black", markeredgewidth=0.5, **face)
    for edge in range(1, len(names)):
        panel.axvline(edge - 0.5, color="0.85", linewidth=0.6)
    panel.set_yscale("log")
    panel.set_xlim(-0.5, len(names) - 0.5)
    panel.set_xticks(range(len(names)), names)
    panel.set_ylabel("CPU seconds (hollow: limit reached)")


def options(parser: argparse.ArgumentParser) -> None:
    """Add what this script takes beside the shared options."""
    parser.add_argument("--instances", nargs="+", metavar="FILE.csv", dest="files", help="default A to K, if there")
    parser.add_argument("--factors", nargs="+", type=float, metavar="F", help="capacity / contention; default 1.1")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="default all")


EXPERIMENT = Experiment(
    "allocation_time",
    "How long do our allocator and exact solvers take, and how much does that vary? (TelaMalloc, Figures 12, 13)",
    rows,
    plot,
    Seconds(quick=4, full=430),
    full={"files": instances.found_files(), "parts": (80, None), "factors": (1.1,), "seeds": 3, "methods": METHODS},
    quick={"parts": (20,), "seeds": 2},
    options=options,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
