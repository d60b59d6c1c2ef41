"""The least of one criterion under limits, proven memory by memory: the table of memories (solved.py), read for it.

A memory is finished once its bounds exceed a limit or the best known, or once it is solved for the least of each metric
in turn. With kept tensors, only plans within the limit are sought for a limited metric, and for the criterion only
those that beat the best known. As long as nothing keeps the limits, what comes nearest is sought: the least factor by
which the worst limit is exceeded; of one limit, the least of what it limits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import le
from typing import NamedTuple, Protocol

from cocco.bounds.floors.least_kept import Floors
from cocco.candidates.rounding import SAME
from cocco.effort.budgets import PROOF_STEPS
from cocco.effort.planned import Memory, Planned
from cocco.effort.status import Status
from cocco.exploration.answers.front import FrontPoint
from cocco.exploration.memories.front import of_value, point_with
from cocco.exploration.memories.solved import Memories, StepBudget
from cocco.exploration.question.question import Question
from cocco.problem.criteria import metric_of, metrics_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem

Row = Sequence[float]


class Judge:
    """One criterion to minimize, and the largest values of others."""

    def __init__(self, plane: Plane, criterion: str, limits: Mapping[str, float]) -> None:
        self.plane, self.target, self.limits = plane, plane.names.index(criterion), dict(limits)

    def excess(self, values: Sequence[float]) -> float:
        """Return by which factor the worst limit is exceeded, at most 1 where all are kept."""
        return max(values[self.plane.names.index(name)] / bound for name, bound in self.limits.items())

    def key(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the sort key: smaller is better; all other criteria break ties, in their order."""
        excess = float(f"{max(1.0, self.excess(values)):.12g}")  # equally near ones differ by rounding
        return (excess, values[self.target] if excess <= 1 else 0.0, *values)

    def first(self, values: Sequence[float]) -> str:
        """Return the criterion to lower: what is minimized, or else what exceeds its limit most."""
        worst = max(self.limits, key=lambda name: values[self.plane.names.index(name)] / self.limits[name])
        return self.plane.names[self.target] if self.excess(values) <= 1 else worst

    def may_beat(self, values: Sequence[float], best: Sequence[float]) -> bool:
        """Return whether something no worse than these values can be better than the best, or nearer to the limits."""
        return self.key(values) < self.key(best)


class Known(Protocol):
    """What is known under limits: the criteria of the best so far, and what solved memories add to it."""

    @property
    def best(self) -> Row: ...

    def valued(self, problem: Problem, metric: Metric) -> Problem:
        """Return the problem with Formula 1 in a metric."""

    def below(self, metric: Metric) -> float:
        """Return the value of a metric below which plans are sought."""

    def take(self, valued: Problem, memory: Memory, found: Planned | None) -> Row | None:
        """Return the criteria of the cheapest plans of a memory (None: it has none below); valued: by the metric."""


class KeptPoints:
    """All points with kept tensors, beside the best point known without."""

    def __init__(self, judge: Judge, known: FrontPoint) -> None:
        self.judge, self.best, self.found = judge, known.values, list[FrontPoint]()

    def valued(self, problem: Problem, metric: Metric) -> Problem:
        """Return the problem with Formula 1 in a metric, by which tiles are chosen as well: it is the least of all."""
        return replace(of_value(problem, metric), chosen_by=None)

    def below(self, metric: Metric) -> float:
        """Return the value below which a plan must stay to beat the best known, or to be as near to the limits."""
        judge, below = self.judge, math.inf
        factor = max(1.0, judge.excess(self.best))
        for i, name in enumerate(judge.plane.names):
            if metric_of(name) != metric:
                continue
            most = factor * judge.limits.get(name, math.inf)
            if i == judge.target and factor <= 1:
                most = min(most, self.best[i])
            below = min(below, most * (judge.plane.cycles if name == "bandwidth" else 1.0) * (1 + SAME))
        return below

    def take(self, valued: Problem, memory: Memory, found: Planned | None) -> Row | None:
        """Add the point of plans."""
        if found is None:
            return None
        self.found.append(point_with(valued, self.judge.plane, found))
        self.best = min(self.best, self.found[-1].values, key=self.judge.key)
        return self.found[-1].values


class CriteriaBound(NamedTuple):
    """Values that no plan on a memory undercuts, in the order of the criteria."""

    values: tuple[float, ...]
    memory: Memory


def bounds_of(problem: Problem, judge: Judge) -> list[CriteriaBound]:
    """Return the lower bounds of each memory, the most promising memory first."""
    plane, totals = judge.plane, Floors(problem).totals
    found = [CriteriaBound(plane.least(plane.machine(memory), totals(memory)), memory) for memory in problem.memories]
    return sorted(found, key=lambda bound: (judge.key(bound.values), bound.memory))


class ProvenLimits(NamedTuple):
    """A lower bound of the criterion under the limits, the status, and a factor by which the worst is exceeded."""

    lower: float
    status: Status
    excess: float  #: at least, by any plan; at most 1 where one may keep all limits
    bounds: Sequence[CriteriaBound] = ()  #: of each memory, raised where it was solved


def by_capacity(judge: Judge, bounds: Sequence[tuple[Row, Memory]]) -> tuple[tuple[float, ...], ...]:
    """Return the criteria that no plan at a capacity undercuts, the smallest first; nothing without that criterion."""
    names = judge.plane.names
    if "capacity" not in names:
        return ()
    found, at = dict[float, tuple[float, ...]](), names.index("capacity")
    for values, _ in bounds:
        found[values[at]] = tuple(map(min, values, found.get(values[at], values)))
    return tuple(found[size] for size in sorted(found))


def proven(question: Question, judge: Judge, known: Known) -> ProvenLimits:
    """Solve each memory that may beat the best known."""
    problem, metrics = question.problem, metrics_of(judge.plane.names)
    tables = {metric: Memories(known.valued(problem, metric), question.engine) for metric in metrics}
    per_memory, in_total, failures = PROOF_STEPS[problem.keep]
    most = StepBudget(question.budget(per_memory), question.budget(in_total), failures)
    failed: list[tuple[Metric, Memory]] = []

    def solve(least: list[float], metric: Metric, memory: Memory) -> None:
        if not most.left or any(metric == name and all(map(le, small, memory)) for name, small in failed):
            return  # a larger memory takes no fewer steps
        table, below = tables[metric], known.below(metric)
        found = table.solve(memory, most.left, below)
        most.count(found)
        if found.is_decided:
            row = known.take(table.problem, memory, found.best)
            _raise(least, judge, metric, below if row is None else row)
        elif failures is None:
            failed.append((metric, memory))

    least_left, least_excess, raised = math.inf, math.inf, list[CriteriaBound]()
    for bound in bounds_of(problem, judge):
        least = list(bound.values)
        if not judge.may_beat(bound.values, known.best):
            raised.append(bound)
            continue
        for metric in metrics:
            solve(least, metric, bound.memory)
            if not judge.may_beat(least, known.best):
                break
        else:
            excess = judge.excess(least)
            least_left = min(least_left, least[judge.target] if excess <= 1 else math.inf)
            least_excess = min(least_excess, excess)
        raised.append(CriteriaBound(tuple(least), bound.memory))
    excess = min(judge.excess(known.best), least_excess)
    if judge.excess(known.best) <= 1:
        value = known.best[judge.target]
        return ProvenLimits(min(value, least_left), "optimal" if value <= least_left else "feasible", excess, raised)
    return ProvenLimits(least_left, "infeasible" if least_left == math.inf else "gave_up", excess, raised)


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
