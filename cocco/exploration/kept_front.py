"""Fronts with kept tensors: each memory is solved where the exact search finishes, in addition to the front without.

The points without kept tensors remain candidates, so the front is never above theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cocco.bounds.kept_bounds import KeptBounds
from cocco.bounds.kept_memories import solve
from cocco.candidates.judge import judged_plans
from cocco.effort.planned import ROUNDING, Memory, Planned
from cocco.effort.work_units import once, precompute
from cocco.exploration.front import FrontPoint, buffer_bytes, by_column
from cocco.exploration.question import Question
from cocco.problem.criteria import MEMORY, metrics_of
from cocco.problem.dominance import front_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane, of_memory
from cocco.problem.problem import Problem

if TYPE_CHECKING:
    import pandas

FAILURES = 3  #: memories in a row that give up; then no larger one is tried in a default search; our choice


class Budgets(NamedTuple):
    """Steps of the exact searches; failures: memories in a row that may give up."""

    per_memory: int
    in_total: int
    failures: int | None = FAILURES


class KeptPoints(NamedTuple):
    """Points with kept tensors, whether they include all that can be on a front, and whether the user stopped."""

    found: list[FrontPoint]
    is_proven: bool
    is_stopped: bool


def of_value(problem: Problem, metric: Metric) -> Problem:
    """Return the problem with Formula 1 in a metric; tiles and loop orders are still chosen by the problem's own."""
    objective = replace(problem.objective, metric=metric, alpha=None)
    return replace(problem, objective=objective, chosen_by=problem.metric)


def solved_points(question: Question, plane: Plane, chosen: Sequence[Memory], budgets: Budgets) -> KeptPoints:
    """Return the cheapest plans of these memories in each metric of the objectives.

    With two objectives, one of which depends on the memory alone, only plans that beat those of all smaller memories
    are sought; what is left out is on no front.
    """
    problem, metrics = question.problem, metrics_of(plane.names)
    is_plane = len(plane.names) == 2 and any(name in MEMORY for name in plane.names)
    size = next((name for name in plane.names if name in MEMORY), "capacity")
    ascending = sorted(chosen, key=lambda memory: (of_memory(size, plane.machine(memory), problem.objective), memory))
    found: list[FrontPoint] = []
    steps, is_proven = 0, is_plane and set(chosen) == set(problem.memories)
    try:
        for metric in metrics:
            valued = of_value(problem, metric)
            bounds, least, failures = KeptBounds(valued), math.inf, 0
            for number, memory in enumerate(ascending):
                below = least if is_plane else math.inf
                if bounds.cost(memory) >= below:
                    continue
                budget = min(budgets.per_memory, budgets.in_total - steps)
                if budget < 1 or failures == budgets.failures:
                    is_proven = False
                    break
                following = [each for each in ascending[number:] if bounds.cost(each) < below]
                precompute(solve, ((valued, each, question.engine, budget, below) for each in following))
                solved = once(solve, valued, memory, question.engine, budget, below)
                steps += solved.steps
                failures = 0 if solved.is_decided else failures + 1
                is_proven &= solved.is_decided
                if solved.best is not None:
                    least = min(least, solved.best.value)
                    found.append(point_with(valued, plane, solved.best))
    except KeyboardInterrupt:
        return KeptPoints(found, False, True)
    return KeptPoints(found, is_proven, False)


def point_with(valued: Problem, plane: Plane, planned: Planned) -> FrontPoint:
    """Return plans of a problem with Formula 1 as a point; RuntimeError if the simulator's price differs."""
    winner = judged_plans(
        valued, planned.plans, planned.memory, [planned.value],
        lambda evaluations: (valued.objective.judged(evaluations),), ROUNDING,
    )  # fmt: skip
    return FrontPoint(plane.judged(winner.evaluations), winner.accelerator, winner.plans, winner.evaluations)


def best_points(points: Iterable[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return the points that no other beats, ascending; of equal points the first."""
    listed = list(points)
    if not listed:
        return ()
    rows = np.array([point.values for point in listed])
    return tuple(listed[i] for i in front_of(rows).tolist())


def with_points(samples: pandas.DataFrame, objectives: Sequence[str], points: Sequence[FrontPoint]) -> pandas.DataFrame:
    """Return the table of samples with a row added for each of these points, in their own generation."""
    import pandas

    if not points:
        return samples
    last, generation = (int(samples[name].max()) if len(samples) else -1 for name in ("sample", "generation"))
    rows = [
        {"sample": last + number, "generation": generation + 1}
        | buffer_bytes(point.accelerator)
        | {"subgraphs": sum(map(len, point.plans))}
        | by_column(objectives, point.values)
        for number, point in enumerate(points, 1)
    ]
    if not len(samples):
        return pandas.DataFrame(rows)[list(samples.columns)]
    return pandas.concat([samples, pandas.DataFrame(rows)[list(samples.columns)]], ignore_index=True)
