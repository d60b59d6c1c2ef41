"""Settle ties: of plans that cost as little as the answer, or within a slack, the one that takes the least energy.

The first criterion is proved, or searched, by itself; then the energy is minimized while that is bounded
(constrained.py). So no plan that is known has at most the cost of the answer and less energy; whether none exists is
said. A plan that has no addresses is changed at the same prices, or the answer stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cocco.allocation.address_map import address_map
from cocco.bounds.floors.least import gap
from cocco.candidates.rounding import SAME
from cocco.effort.budgets import FAILURES, KEPT_STEPS
from cocco.effort.planned import Memory
from cocco.effort.stages import tell
from cocco.exploration.answers.front import FrontPoint, with_points
from cocco.exploration.answers.lacking import Moved
from cocco.exploration.answers.limited import Limited
from cocco.exploration.answers.result import Result
from cocco.exploration.answers.second import Second
from cocco.exploration.memories.limits import Judge, bounds_of
from cocco.exploration.memories.solved import Memories, StepBudget, given_in, value_of
from cocco.exploration.placing.cheapest import placed_plan
from cocco.exploration.placing.proof import FAR_ABOVE
from cocco.exploration.placing.repair import repaired_plans
from cocco.exploration.question.question import Question
from cocco.exploration.ties.constrained import Bounds, Constrained, Plans, budget, least_of_all, plans_of
from cocco.problem.criteria import metric_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane

SECOND: Metric = "energy"


def settled(
    question: Question, result: Result, slack: float, needs_pairs: bool, thrifty: Callable[[], Result]
) -> Result:
    """Return the answer, or plans that cost no more than the slack allows and take less energy.

    needs_pairs: as in `with_addresses`. thrifty: returns the answer for the energy in its memory, with addresses.
    """
    problem, metric = question.problem, question.problem.objective.metric
    if metric == SECOND and not (slack and problem.buffers):
        return result
    known = plans_of(problem, result.accelerator, result.plans)
    most, own = result.cost * (1 + slack), problem.memory_of(result.accelerator)
    table = Memories(problem, question.engine)
    tell("least energy", best=result.cost)
    bounds: dict[Memory, Bounds] = {}
    for memory in problem.memories if slack else [own]:
        if memory == own or table.bound(memory) <= most:
            size = problem.objective.buffer_bytes(problem.accelerator_of(memory))
            value = value_of(problem, most, size)
            bounds[memory] = {metric: max(value, known.of(metric)) if memory == own else value}
    asked = [_Placed(known)]

    def others() -> Plans:
        answer = thrifty()
        plans = plans_of(problem, answer.accelerator, answer.plans)
        if plans.keeps(bounds[own]) and answer.placed is not False:
            asked.append(_Placed(plans, answer.moved, answer.placed))
        return plans

    found = least_of_all(question, SECOND, bounds, known, others=others)
    start = asked[-1] if asked[-1].plans.beats(known, SECOND) else asked[0]
    placed = _placed(question, found, start.plans, bounds, SECOND, needs_pairs)
    placed = start if placed.plans is start.plans else placed
    best = placed.plans
    cost = problem.cost(best.evaluations)
    second = Second(SECOND, best.of(SECOND), found.bound, slack, result.cost, cost, known.of(SECOND))
    if best is known:
        return replace(result, second=second)
    bound, status = result.lower_bound, result.status
    is_dearer = cost > result.cost * (1 + SAME)
    return replace(
        result, accelerator=best.machine, plans=best.plans, evaluations=best.evaluations, cost=cost, second=second,
        moved=placed.moved, placed=placed.is_placed, splits=None if placed.moved is None else 0,
        gap=None if bound is None else gap(cost, bound),
        status="feasible" if status == "optimal" and is_dearer else status,
    )  # fmt: skip


def settled_limits(question: Question, judge: Judge, limited: Limited, others: Sequence[FrontPoint]) -> Limited:
    """Return the answer under limits with a better value, if prices on the limits find one, and then the least energy.

    Of a point that is only the nearest, the worst limit counts as kept by what it has. others: answers for single
    criteria in its memory.
    """
    point = limited.nearest
    assert point is not None, "a plan runs"
    plane, factor, name = judge.plane, max(1.0, judge.excess(point.values)), limited.minimize
    metric, at = metric_of(name), judge.target
    most = {each: factor * bound for each, bound in judge.limits.items()}
    found = None
    if limited.status == "feasible" and metric is not None:
        found = _least(question, judge, point, most, metric, others)
        if found is not None:
            point = found.point
            lower = found.bound / (plane.cycles if name == "bandwidth" else 1.0)
            lower = min(point.values[at], max(lower, limited.lower_bound or 0.0))
            is_proven = point.values[at] <= lower * (1 + SAME)
            limited = replace(limited, lower_bound=lower, status="optimal" if is_proven else "feasible")
    if factor == 1:
        most[name] = min(most.get(name, math.inf), point.values[at])
    before, second = point, None
    if _metrics(plane, most).keys() != {SECOND}:
        if found is None or metric != SECOND:
            found = _least(question, judge, point, most, SECOND, others)
        if found is not None:
            point, second = found.point, found.second(before, question.problem.objective.weights)
    points = limited.points if point is limited.nearest else with_points(limited.points, plane.names, [point])
    return replace(limited, nearest=point, best=limited.best and point, second=second, points=points)


def settled_points(question: Question, plane: Plane, points: Sequence[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return points of a front with the least energy for their values, as far as few steps find it in each memory."""
    if SECOND in plane.names:
        return tuple(points)
    own, steps, found = question.problem.memory_of, budget(question, FAILURES), []
    for point in points:
        most = dict(zip(plane.names, point.values))
        found.append(_least_point(question, plane, point, most, [own(point.accelerator)], SECOND, steps).point)
    return tuple(found)


class _Least(NamedTuple):
    """A point with the least of a metric, and a value that no other within its bounds undercuts."""

    point: FrontPoint
    bound: float

    def second(self, before: FrontPoint, weights: tuple[float, ...]) -> Second:
        """Return what the second criterion decided; before: the point without it."""
        here, there = (
            Plans(each.plans, each.accelerator, each.evaluations, weights).of(SECOND) for each in (self.point, before)
        )
        return Second(SECOND, here, self.bound, 0.0, 1.0, 1.0, there)


def _metrics(plane: Plane, most: Mapping[str, float]) -> dict[Metric, float]:
    """Return the most of each metric from the largest values of criteria."""
    found: dict[Metric, float] = {}
    for name, bound in most.items():
        metric = metric_of(name)
        if metric is not None:
            value = bound * (plane.cycles if name == "bandwidth" else 1.0)
            found[metric] = min(found.get(metric, value), value)
    return found


def _least(
    question: Question, judge: Judge, point: FrontPoint, most: Mapping[str, float], target: Metric,
    others: Sequence[FrontPoint],
) -> _Least | None:  # fmt: skip
    """Return the least of a metric in all memories that may keep these values; None if that breaks a limit."""
    within = [
        each.memory for each in bounds_of(question.problem, judge)
        if all(value <= most.get(name, math.inf) for name, value in zip(judge.plane.names, each.values))
    ]  # fmt: skip
    found = _least_point(question, judge.plane, point, most, within, target, None, others)
    is_kept = judge.excess(found.point.values) <= max(1.0, judge.excess(point.values))
    return found if is_kept else None  # it was within the limit but for rounding


def _least_point(
    question: Question, plane: Plane, point: FrontPoint, most: Mapping[str, float], memories: Sequence[Memory],
    target: Metric, steps: StepBudget | None, others: Sequence[FrontPoint] = (),
) -> _Least:  # fmt: skip
    """Return a point with at most these values and the least of a metric in these memories."""
    bounds: dict[Memory, Bounds] = dict.fromkeys(memories, _metrics(plane, most))
    weights = question.problem.objective.weights
    answers = [Plans(each.plans, each.accelerator, each.evaluations, weights) for each in others]
    beyond = [each for each in answers if not each.keeps(_metrics(plane, most))]
    other = min(beyond, key=lambda each: each.of(target), default=None)
    known = plans_of(question.problem, point.accelerator, point.plans)
    tell("least " + target, best=known.of(target))
    found = least_of_all(question, target, bounds, known, steps, lambda: other)
    placed = _placed(question, found, known, bounds, target, False)
    best = placed.plans
    if best is known:
        return _Least(point, found.bound)
    values = plane.judged(best.evaluations)
    moved = FrontPoint(values, best.machine, best.plans, best.evaluations, placed.moved, placed.is_placed)
    return _Least(moved, found.bound)


class _Placed(NamedTuple):
    """Plans with addresses, what was changed for them, and that they have them; None where nothing is kept."""

    plans: Plans
    moved: tuple[Moved, ...] | None = None
    is_placed: bool | None = None


def _placed(
    question: Question, found: Constrained, known: Plans, bounds: Mapping[Memory, Bounds], target: Metric,
    needs_pairs: bool,
) -> _Placed:  # fmt: skip
    """Return what was found with addresses, or what was known if that has less of the metric then."""
    best, problem = found.best, found.weighed
    assert best is not None, "what is known keeps the bounds"
    if best is known:
        return _Placed(known)
    if not any(plan.keep for plan in best.plans):
        held = zip(problem.networks, best.plans)
        maps = [address_map(*each, best.machine, problem.tile_rule) for each in held] if needs_pairs else []
        return _Placed(best if all(each is None or each.fits for each in maps) else known)
    memory = problem.memory_of(best.machine)
    is_tie = len(known.plans) == 1 and best.machine == known.machine and problem.metric in bounds[memory]
    within = known.plans[0] if is_tie and best.of(problem.metric) <= known.of(problem.metric) * (1 + SAME) else None
    plans, moved, is_placed = repaired_plans(problem, best.machine, best.plans, needs_pairs, within)
    changed = plans_of(problem, best.machine, plans)
    if moved and len(plans) == 1 and problem.accelerator.cores == 1:
        given = given_in(problem, memory)
        most = FAR_ABOVE * given.objective.judged(best.evaluations)
        answer = placed_plan(given, most, question.budget(KEPT_STEPS), question.engine, needs_pairs)
        if answer is not None and answer.plan is not None:
            cheapest = plans_of(problem, best.machine, [answer.plan])
            is_less = cheapest.keeps(bounds[memory]) and cheapest.beats(changed, target)
            if is_less or not (is_placed and changed.keeps(bounds[memory])):
                changed, moved, is_placed = cheapest, (), True
    is_better = is_placed and changed.keeps(bounds[memory]) and changed.beats(known, target)
    return _Placed(changed, moved, True) if is_better else _Placed(known)
