"""Does it pay to learn where TelaMalloc's search backtracks to? (TelaMalloc, Sec. 6 and Figures 15 and 17)

    python -m experiments.learned_backtracking [--instances FILE.csv ...] [--seeds N] [--quick]

Teaching runs of the search collect, at major backtracks, the features of each candidate target and its score by our
complete search; gradient-boosted trees learn the score. Each instance is then searched with trees that have seen only
the others: by the rule, by the trees, and by targets drawn at random. One row per instance, capacity, order and way.
Limits are steps; `cpu_seconds` are those of one core, all other columns repeat exactly.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas
from matplotlib.figure import Figure

from cocco.allocation.exact.telamalloc import Choose, telamalloc
from cocco.allocation.problem import make_problem
from experiments.common import command
from experiments.common.drawing import LINES, bars, panels
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.paper.related import backtracks, instances
from experiments.paper.related.boosting import Floats, Forest, fit
from experiments.sweep.points import Point
from simulator.allocation.buffers import Allocation
from simulator.allocation.judge import check_allocation

STEPS = 20_000  #: of a run; the paper gives 500,000
LABELLED = 30  #: backtracks of a teaching run that are labelled
WAYS: Mapping[str, Callable[[Point], Choose | None]] = {
    "rule": lambda point: None,
    "learned": lambda point: backtracks.Learned(Forest.from_json(point["forest"])),
    "drawn": lambda point: backtracks.Drawn(point["seed"]),
}


def rows(
    compute: Compute,
    seed: int,
    files: Sequence[str],
    factors: Sequence[float],
    seeds: int,
    taught: Sequence[float],
    trees: int,
    steps: int,
    labels: int,
) -> list[Point]:
    """Return one row per instance, capacity, order of the buffers and way; `samples` are those its trees have seen.

    factors: capacity over the largest contention, in the test; taught: the same, of the teaching runs, whose order is
    that of `seed`, and of the test `seeds` others. steps, labels: of a run.
    """
    digests = instances.checked_files(files)
    if len(files) < 2:
        raise ValueError("instances must be two or more: what is tested is not what is learned from")
    given = {file: {"file": file, "sha256": digests[file], "steps": steps} for file in files}
    lessons = compute(teach, [
        {**given[file], "factor": factor, "seed": seed, "labels": labels} for file in files for factor in taught
    ])  # fmt: skip
    forests, counts = {}, {}
    for file in files:
        seen = [row for lesson in lessons if lesson["file"] != file for row in lesson["samples"]]
        if not seen:
            raise ValueError(f"the runs on other instances than {instances.name_of(file)} never backtracked")
        forests[file], counts[file] = learn(seen, trees).to_json(), len(seen)
    points = [
        {**given[file], "factor": factor, "seed": each, "way": way,
         "forest": forests[file] if way == "learned" else None, "samples": counts[file]}
        for factor in factors
        for each in range(seed + 1, seed + 1 + seeds)
        for file in files
        for way in WAYS
    ]  # fmt: skip
    shown = ("instance", "factor", "capacity_bytes", "seed", "way", "samples", "status", "steps_taken", "major",
             "minor", "cpu_seconds")  # fmt: skip
    return [{name: row[name] for name in shown} for row in compute(search, points)]


def learn(samples: Sequence[Sequence[float]], trees: int) -> Forest:
    """Return trees that predict the last column from the others."""
    table: Floats = np.array(samples, dtype=np.float64)
    return fit(table[:, :-1], table[:, -1], trees)


def teach(point: Point) -> Point:
    """Return the features and scores that one teaching run collects, a row per candidate."""
    teacher = backtracks.Teacher(point["seed"], point["labels"])
    _run(point, teacher)
    return {"samples": [[round(value, 6) for value in row] for row in teacher.samples()]}


def search(point: Point) -> Point:
    """Return how one run ends, its steps and backtracks, and its CPU seconds; an answer is checked."""
    return _run(point, WAYS[point["way"]](point))


def _run(point: Point, choose: Choose | None) -> Point:
    buffers = instances.first_buffers(point["file"], None)
    capacity = instances.capacity_of(buffers, point["factor"])
    buffers = instances.shuffled(buffers, point["seed"])
    problem = make_problem(buffers)
    start = time.process_time()
    found = telamalloc(problem, capacity // problem.granule, point["steps"], choose=choose)
    seconds = time.process_time() - start
    if found.address is not None:
        addresses = {each.id: int(at) * problem.granule for each, at in zip(buffers, found.address)}
        broken = check_allocation(buffers, Allocation(addresses), capacity)
        if broken:
            raise AssertionError(f"{point['file']}: {broken[0].message}")
    return {
        "instance": instances.name_of(point["file"]), "capacity_bytes": capacity, "status": found.status,
        "steps_taken": found.nodes, "major": found.major, "minor": found.minor, "cpu_seconds": seconds,
    }  # fmt: skip


def summary(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row per capacity and way: what it solves, against the rule, and the ratio of steps where both do.

    gained, lost: questions that it solves and the rule does not, and the other way round. steps: geometric mean.
    """
    keys = ["instance", "factor", "seed"]
    rule = table[table["way"] == "rule"].set_index(keys)
    found = []
    for (factor, way), mine in table.groupby(["factor", "way"], sort=False):
        base = rule.reindex(pandas.MultiIndex.from_frame(mine[keys]))
        is_solved = (mine["status"] == "feasible").to_numpy()
        was_solved = (base["status"] == "feasible").to_numpy()
        both = is_solved & was_solved
        ratios = np.log(mine["steps_taken"].to_numpy()[both] / base["steps_taken"].to_numpy()[both])
        found.append({
            "factor": factor, "way": way, "runs": len(mine), "solved": int(is_solved.sum()),
            "gained": int((is_solved & ~was_solved).sum()), "lost": int((was_solved & ~is_solved).sum()),
            "steps": math.exp(ratios.mean()) if both.any() else None,
            "cpu_seconds": float(mine["cpu_seconds"].sum()),
            "ms_per_step": 1e3 * float(mine["cpu_seconds"].sum() / mine["steps_taken"].sum()),
        })  # fmt: skip
    return pandas.DataFrame(found)


def plot(table: pandas.DataFrame) -> Figure:
    """Return steps by the trees and at random against those of the rule, and how many runs each way solves."""
    figure, (left, right) = panels(1, 2, 10, 4.4)
    keys = ["instance", "factor", "seed"]
    rule = table[table["way"] == "rule"].set_index(keys)["steps_taken"]
    for way, style in zip(("learned", "drawn"), LINES[::2]):
        mine = table[table["way"] == way].set_index(keys)["steps_taken"].reindex(rule.index)
        left.plot(rule, mine, label=LABELS[way], markersize=5, **{**style, "linestyle": "none"}, alpha=0.7)
    most = float(table["steps_taken"].max())
    ends = [0.8 * float(table["steps_taken"].min()), 1.3 * most]
    left.plot(ends, ends, color="black", linewidth=0.8)
    left.set(xscale="log", yscale="log", xlabel="steps by the rule", ylabel="steps", xlim=ends, ylim=ends)
    left.set_title(f"below the line: fewer steps than the rule; runs end at {most:,.0f}", fontsize=9)
    left.legend(fontsize=7)
    short = summary(table)
    factors = list(dict.fromkeys(short["factor"]))
    solved = {
        LABELS[str(way)]: [int(mine[mine["factor"] == factor]["solved"].iloc[0]) for factor in factors]
        for way, mine in short.groupby("way", sort=False)
    }
    bars(right, [f"{factor:g}" for factor in factors], solved)
    right.locator_params(axis="y", integer=True)
    right.set(xlabel="capacity / largest contention", ylabel=f"runs solved, of {int(short['runs'].max())}")
    right.legend(fontsize=7)
    return figure


LABELS = {"rule": "the rule (Sec. 5.4)", "learned": "learned", "drawn": "drawn at random"}


def options(parser: argparse.ArgumentParser) -> None:
    """Add what this script takes beside the shared options."""
    parser.add_argument("--instances", nargs="+", metavar="FILE.csv", dest="files", help="default A to K, if there")
    parser.add_argument("--factors", nargs="+", type=float, metavar="F", help="capacity / contention, in the test")


DEFAULTS: Mapping[str, Any] = {
    "files": instances.found_files(), "factors": (1.2, 1.3), "seeds": 2, "taught": (1.15, 1.25, 1.35), "trees": 100,
    "steps": STEPS, "labels": LABELLED,
}  # fmt: skip
EXPERIMENT = Experiment(
    "learned_backtracking",
    "Does it pay to learn where TelaMalloc's search backtracks to? (TelaMalloc, Sec. 6)",
    rows,
    plot,
    Seconds(quick=10, full=400),
    full=DEFAULTS,
    quick={"seeds": 1, "factors": (1.3,), "taught": (1.25,), "trees": 20, "steps": 500, "labels": 5},
    options=options,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
