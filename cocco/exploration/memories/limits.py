"""The least of one criterion under limits, proven memory by memory: the table of memories (solved.py), read for it.

A memory is finished once its bounds exceed a limit or the best known, or once it is solved for the least of each metric
in turn. With kept tensors, only plans within the limit are sought for a limited metric, and for the criterion only
those that beat the best known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import le
from typing import NamedTuple

from cocco.bounds.staircase import Staircase
from cocco.candidates.rounding import SAME
from cocco.effort.budgets import FAILURES, KEPT_STEPS, KEPT_TOTAL, PLAIN_STEPS, PLAIN_TOTAL
from cocco.effort.planned import Memory
from cocco.effort.status import Status
from cocco.exploration.answers.front import FrontPoint
from cocco.exploration.memories.front import of_value, point_with
from cocco.exploration.memories.solved import Memories, Steps
from cocco.exploration.question.judge import Judge
from cocco.exploration.question.question import Question
from cocco.problem.criteria import metric_of, metrics_of
from cocco.problem.names import Metric
from cocco.problem.problem import Problem

Row = Sequence[float]
Price = Callable[[list[int], Memory], Row]  #: prices labels in a memory: the criteria


class Bound(NamedTuple):
    """Values that no plan on a memory undercuts, in the order of the criteria."""

    values: tuple[float, ...]
    memory: Memory


class LimitedPoints(NamedTuple):
    """All points with kept tensors, a lower bound of the criterion, and how the search ended."""

    found: list[FrontPoint]
    lower: float
    status: Status


def bounds_of(problem: Problem, judge: Judge) -> list[Bound]:
    """Return the lower bounds of each memory, the most promising memory first."""
    plane, totals = judge.plane, Staircase(problem).totals
    found = [Bound(plane.least(plane.machine(memory), totals(memory)), memory) for memory in problem.memories]
    return sorted(found, key=lambda bound: (judge.key(bound.values), bound.memory))


def least_plain(question: Question, judge: Judge, best: Callable[[], Row], price: Price) -> tuple[float, Status]:
    """Return a lower bound of the criterion with nothing kept, and the status; `price` may improve what `best` returns.

    best: the criteria of the best known. price: prices labels in a memory.
    """
    problem, metrics = question.problem, metrics_of(judge.plane.names)
    tables = {metric: Memories(of_value(problem, metric), question.engine) for metric in metrics}
    failed: list[tuple[Metric, Memory]] = []
    most = Steps(question.budget(PLAIN_STEPS), question.budget(PLAIN_TOTAL))

    def solve(least: list[float], metric: Metric, memory: Memory) -> None:
        if any(metric == name and all(map(le, small, memory)) for name, small in failed):
            return  # a larger memory takes no fewer steps
        found = tables[metric].solve(memory, most.left)
        most.count(found)
        if not found.is_decided:
            failed.append((metric, memory))
            return
        labels = list(range(problem.size)) if found.best is None else problem.labels(found.best.plans)
        _raise(least, judge, metric, price(labels, memory))

    return _proven(judge, bounds_of(problem, judge), best, solve)


def limited_points(question: Question, judge: Judge, known: FrontPoint) -> LimitedPoints:
    """Return what the exact search with kept tensors adds to the best point known without."""
    problem, plane, points, best = question.problem, judge.plane, list[FrontPoint](), known.values
    tables = {metric: Memories(of_value(problem, metric), question.engine) for metric in metrics_of(plane.names)}
    most = Steps(question.budget(KEPT_STEPS), question.budget(KEPT_TOTAL), FAILURES)

    def solve(least: list[float], metric: Metric, memory: Memory) -> None:
        nonlocal best
        if not most.left:
            return
        table, below = tables[metric], _below(judge, best, metric)
        solved = table.solve(memory, most.left, below)
        most.count(solved)
        if solved.best is not None:
            points.append(point_with(table.problem, plane, solved.best))
            best = min(best, points[-1].values, key=judge.key)
        if solved.is_decided:
            _raise(least, judge, metric, below if solved.best is None else points[-1].values)

    try:
        lower, status = _proven(judge, bounds_of(problem, judge), lambda: best, solve)
    except KeyboardInterrupt:
        return LimitedPoints(points, math.inf, "stopped")
    return LimitedPoints(points, lower, status)


def _proven(
    judge: Judge, bounds: Sequence[Bound], best: Callable[[], Row],
    solve: Callable[[list[float], Metric, Memory], None],
) -> tuple[float, Status]:  # fmt: skip
    """Solve each memory that may beat the best known; return a lower bound of the criterion and the status.

    solve: raises the bounds of a memory by its least of a metric, if it finds that out.
    """
    metrics, least_left = metrics_of(judge.plane.names), math.inf
    for bound in bounds:
        if not judge.may_beat(bound.values, best()):
            continue
        least = list(bound.values)
        for metric in metrics:
            solve(least, metric, bound.memory)
            if not judge.may_beat(least, best()):
                break
        else:
            least_left = min(least_left, least[judge.target])
    found = best()
    if judge.excess(found) <= 1:
        value = found[judge.target]
        return min(value, least_left), "optimal" if value <= least_left else "feasible"
    return least_left, "infeasible" if least_left == math.inf else "gave_up"


def _below(judge: Judge, best: Row, metric: Metric) -> float:
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
        below = min(below, most * (judge.plane.cycles if name == "bandwidth" else 1.0) * (1 + SAME))
    return below


def _raise(least: list[float], judge: Judge, metric: Metric, found: float | Row) -> None:
    """Raise the lower bounds of a metric's criteria in a memory that is solved or ruled out.

    found: the criteria of its best plans, or a value of the metric that no plan there undercuts.
    """
    for i, name in enumerate(judge.plane.names):
        if metric_of(name) == metric:
            if isinstance(found, float):
                least[i] = max(least[i], found / (judge.plane.cycles if name == "bandwidth" else 1.0))
            else:
                least[i] = found[i]
