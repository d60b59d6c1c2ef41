"""Minimize one criterion under limits, with kept tensors: memory by memory, as `limits` does without them.

A memory is finished once its bounds exceed a limit or the best known value, or once it is solved for the least of each
metric in turn. For a limited metric only plans within the limit are sought; for the criterion only those that beat the
best known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from cocco.bounds.kept_bounds import KeptBounds
from cocco.bounds.kept_memories import QUICK_STEPS, QUICK_TOTAL, solve
from cocco.effort.planned import ROUNDING
from cocco.effort.status import Status
from cocco.effort.work_units import once
from cocco.exploration.front import FrontPoint
from cocco.exploration.kept_front import FAILURES, of_value, point_with
from cocco.exploration.question import Question
from cocco.problem.criteria import metric_of, metrics_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane


class Judge(Protocol):
    """Judges how good a row of criteria is (cocco.exploration.limits)."""

    plane: Plane
    target: int
    limits: dict[str, float]

    def excess(self, values: Sequence[float]) -> float:
        """Return the largest factor by which a limit is exceeded; at most 1 where all are kept."""

    def key(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the sort key: smaller is better."""


class LimitedPoints(NamedTuple):
    """All points with kept tensors, a lower bound of the criterion, and how the search ended."""

    found: list[FrontPoint]
    lower: float
    status: Status


def limited_points(question: Question, judge: Judge, known: FrontPoint) -> LimitedPoints:
    """Return what the exact search adds to the best point known without kept tensors."""
    points, best = list[FrontPoint](), known.values
    problem, plane = question.problem, judge.plane
    metrics = metrics_of(plane.names)
    bounds = KeptBounds(problem)
    steps, failures, least_left = 0, 0, math.inf
    rows = [(plane.least(plane.machine(memory), bounds.totals(memory)), memory) for memory in problem.memories]
    rows.sort(key=lambda row: (judge.key(row[0]), row[1]))
    try:
        for values, memory in rows:
            if judge.excess(values) > 1 or judge.key(values) >= judge.key(best):
                continue
            least = list(values)
            for metric in metrics:
                budget = min(question.budget(QUICK_STEPS), question.budget(QUICK_TOTAL) - steps)
                if budget < 1 or failures >= FAILURES:
                    continue
                valued, below = of_value(problem, metric), _below(judge, best, metric)
                solved = once(solve, valued, memory, question.engine, budget, below)
                steps += solved.steps
                failures = 0 if solved.is_decided else failures + 1
                if solved.best is not None:
                    points.append(point_with(valued, plane, solved.best))
                    best = min(best, points[-1].values, key=judge.key)
                if solved.is_decided:
                    _raise(least, plane, metric, below if solved.best is None else points[-1].values)
                if judge.excess(tuple(least)) > 1 or judge.key(tuple(least)) >= judge.key(best):
                    break
            else:
                least_left = min(least_left, least[judge.target])
    except KeyboardInterrupt:
        return LimitedPoints(points, math.inf, "stopped")
    value = best[judge.target]
    if judge.excess(best) <= 1:
        return LimitedPoints(points, min(value, least_left), "optimal" if value <= least_left else "feasible")
    return LimitedPoints(points, least_left, "infeasible" if least_left == math.inf else "gave_up")


def _below(judge: Judge, best: tuple[float, ...], metric: Metric) -> float:
    """Return the value of a metric below which a plan must stay to beat the best known; inf if that breaks a limit."""
    below = math.inf
    if judge.excess(best) > 1:
        return below  # the point nearest to the limits is wanted as well
    for i, name in enumerate(judge.plane.names):
        if metric_of(name) != metric:
            continue
        most = judge.limits.get(name, math.inf)
        if i == judge.target:
            most = min(most, best[i])
        below = min(below, most * (judge.plane.cycles if name == "bandwidth" else 1.0) * (1 + ROUNDING))
    return below


def _raise(least: list[float], plane: Plane, metric: Metric, found: float | tuple[float, ...]) -> None:
    """Raise the lower bounds of a metric's criteria in a memory that is solved or ruled out.

    found: the criteria of its best plans, or a value of the metric that no plan there undercuts.
    """
    for i, name in enumerate(plane.names):
        if metric_of(name) == metric:
            if isinstance(found, tuple):
                least[i] = found[i]
            else:
                least[i] = max(least[i], found / (plane.cycles if name == "bandwidth" else 1.0))
