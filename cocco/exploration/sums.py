"""The least of one criterion under limits where all of them add up over subgraphs: a search, then a proof.

First comes the front between what is minimized and what is limited (NSGA-II, cocco.pareto) and its best point that
keeps the limits, then single memories, then the proof: each memory is ruled out by a lower bound, or solved where that
finishes. Our method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from cocco.effort.effort import Effort
from cocco.effort.planned import Memory, Planned
from cocco.effort.settings import Settings
from cocco.effort.status import Status
from cocco.exploration.answers.front import FrontPoint, with_points
from cocco.exploration.answers.limited import Limited
from cocco.exploration.explore import answer_in, plan_that_runs
from cocco.exploration.memories.front import of_value
from cocco.exploration.memories.limits import Judge, KeptPoints, ProvenLimits, bounds_of, by_capacity, proven
from cocco.exploration.placing.addresses import best_placed
from cocco.exploration.question.question import Question
from cocco.exploration.searching.cloud import cheapest, empty_cloud, point_of, rows_of, searched
from cocco.exploration.searching.limits import searched_points
from cocco.exploration.ties.settled import settled_limits
from cocco.problem.criteria import EXECUTED, MEMORY, metrics_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane, of_memory
from cocco.problem.problem import Problem, in_memory
from cocco.search.genetic.nsga import Cloud

FOCUSED = 4  #: memories that are searched one by one for the least capacity; our choice


def on_sums(question: Question, asked: Question, judge: Judge, effort: Effort) -> Limited:
    """Return the answer where all criteria add up over subgraphs; asked: with what may be kept."""
    limited = _minimized(question, asked, judge)
    has_tiles = len(metrics_of(judge.plane.names)) > 1  # chosen by each metric, of which the samples have one
    if (asked.problem.keep == "auto" or has_tiles) and limited.status != "stopped" and limited.nearest is not None:
        limited = _solved(asked, judge, limited)
    if limited.status == "stopped" or limited.nearest is None:
        return limited
    try:
        limited, others = _with_answers(asked, judge, limited, effort)
        limited = settled_limits(asked, judge, limited, others)
        if not others and limited.second is not None and limited.second.status != "optimal":
            limited = settled_limits(asked, judge, limited, _answers(asked, judge, limited, effort))
    except KeyboardInterrupt:
        return replace(limited, status="stopped")
    return limited


def of_sums(judge: Judge) -> Judge:
    """Return the judge without what is executed; of capacities at most the largest."""
    names = [name for name in judge.plane.names if name != EXECUTED]
    limits = {name: most for name, most in judge.limits.items() if name != EXECUTED}
    if not limits:
        problem = judge.plane.problem
        limits["capacity"] = max(
            of_memory("capacity", judge.plane.machine(each), problem.objective) for each in problem.memories
        )
    plane = Plane(judge.plane.problem, tuple(dict.fromkeys([*names, *limits])))
    return Judge(plane, plane.names[0], limits)


def _minimized(question: Question, asked: Question, judge: Judge) -> Limited:
    """Return the answer with nothing kept: search, focus on single memories, prove; asked: with what may be kept."""
    plane = judge.plane
    is_focused = plane.names[judge.target] not in MEMORY or len(metrics_of(plane.names)) == 1
    share = -(-question.samples // 2) if is_focused else question.samples
    first = replace(question, samples=share)
    cloud = empty_cloud(first, plane)
    if question.may_run:
        searched(first, cloud)
    if not len(cloud.values):
        return _of_one(asked, cloud, judge)
    cloud.wanted = question.samples
    found = ProvenLimits(math.inf, "stopped", 0.0)
    try:
        if is_focused and not cloud.is_stopped:
            _focus(question, cloud, judge)
        if not cloud.is_stopped:
            found = proven(question, judge, _Priced(question.problem, cloud, judge))
    except KeyboardInterrupt:
        pass
    point = point_of(cloud, _best(judge, cloud))
    lower = None if found.lower == math.inf else found.lower
    limited = _answer(question, cloud, judge, point, lower, found.status, found.excess)
    return replace(limited, floors=by_capacity(judge, found.bounds))


def _of_one(question: Question, cloud: Cloud, judge: Judge) -> Limited:
    """Return the answer where a search found nothing that runs: that of one plan, or why none runs."""
    result = plan_that_runs(question)
    if not result.plans:
        limited = _answer(question, cloud, judge, None, None, result.status)
        return replace(limited, samples=result.samples, lacking=result.evaluations)
    found, plane = result.evaluations, judge.plane
    point = FrontPoint(plane.judged(found), result.accelerator, result.plans, found)
    status: Status = "feasible" if judge.excess(point.values) <= 1 else "gave_up"
    limited = _answer(question, cloud, judge, point, None, "stopped" if result.status == "stopped" else status)
    return replace(limited, samples=result.samples, points=with_points(limited.points, plane.names, [point]))


def _focus(question: Question, cloud: Cloud, judge: Judge) -> None:
    """Spend the other half of the samples on single memories, with the search for given hardware (our choice).

    If a metric is minimized, that is the memory of the best row. Otherwise it is the next smaller memory that may still
    keep the limits, and so on down while that succeeds. If nothing keeps the limits, it is the nearest memory.
    """
    from cocco.exploration.searching.divided_search import search  # here: it needs deap

    metric = metrics_of([judge.plane.names[judge.target], *judge.plane.names])[0]
    problem = of_value(question.problem, metric)
    bounds = [bound for bound in bounds_of(problem, judge) if judge.excess(bound.values) <= 1]
    rounds = FOCUSED if judge.plane.names[judge.target] in MEMORY else 1
    for number in range(rounds):
        share = cloud.left // (rounds - number)
        row = _best(judge, cloud)
        known, memory = judge.key(cloud.values[row].tolist()), tuple(cloud.capacities[row].tolist())
        if rounds > 1 and known[0] <= 1:
            below = [bound for bound in bounds if bound.values[judge.target] < known[1]]
            if not below:
                return
            memory = max(below, key=lambda bound: bound.values[judge.target]).memory
        if share < 2:
            return
        given = in_memory(problem, memory)
        labels = cheapest(cloud, memory, metric)
        initial = [] if labels is None else [labels]
        found = search(
            replace(question, problem=given, samples=share - 1, settings=Settings(), progress=None, initial=initial)
        )
        cloud.spend(found.samples)
        cloud.price(*rows_of(problem, found.best.genome.labels, [memory]))
        if found.is_stopped:
            raise KeyboardInterrupt
        if judge.key(cloud.values[_best(judge, cloud)].tolist())[:2] >= known[:2]:
            return


class _Priced:
    """The samples of a cloud as what is known; the optimum of each memory that is solved becomes one."""

    def __init__(self, problem: Problem, cloud: Cloud, judge: Judge) -> None:
        self.problem, self.cloud, self.judge = problem, cloud, judge

    @property
    def best(self) -> list[float]:
        found: list[float] = self.cloud.values[_best(self.judge, self.cloud)].tolist()
        return found

    def valued(self, problem: Problem, metric: Metric) -> Problem:
        return of_value(problem, metric)  # tiles as the samples have them

    def below(self, _: Metric) -> float:
        return math.inf

    def take(self, _: Problem, memory: Memory, found: Planned | None) -> list[float]:
        labels = list(range(self.problem.size)) if found is None else self.problem.labels(found.plans)
        row: list[float] = self.cloud.price(*rows_of(self.problem, labels, [memory]))[1][0].tolist()
        return row


def _best(judge: Judge, cloud: Cloud) -> int:
    """Return the best row of a cloud's front."""
    rows = cloud.values.tolist()
    return min(range(len(rows)), key=lambda row: judge.key(rows[row]))


def _solved(question: Question, judge: Judge, plain: Limited) -> Limited:
    """Return the answer with tiles chosen by each metric and what may be kept: never worse than the one without."""
    known = plain.nearest
    assert known is not None, "a plan runs"
    found, samples = KeptPoints(judge, known), plain.samples
    try:
        lower, status, excess, bounds = proven(question, judge, found)
    except KeyboardInterrupt:
        lower, status, excess, bounds = ProvenLimits(math.inf, "stopped", 0.0)
    points = found.found
    point = min([known, *points], key=lambda each: judge.key(each.values))
    if status in ("feasible", "gave_up") and question.problem.keep == "auto":  # the windows keep tensors
        more = searched_points(question, judge, point)
        points, samples, point = points + more.found, samples + more.samples, [point, *more.found][-1]
        value = point.values[judge.target]
        if judge.excess(point.values) <= 1:
            status, lower = "optimal" if value <= lower else "feasible", min(value, lower)
        status = "stopped" if more.is_stopped else status
    if status != "stopped":
        try:
            placed = best_placed(judge.plane, [known, *points, point], judge.key)
        except KeyboardInterrupt:
            status = "stopped"
        else:
            if judge.key(placed.values) > judge.key(point.values) and status == "optimal":
                status = "feasible" if judge.excess(placed.values) <= 1 else "gave_up"
            points, point = points + [placed] * bool(placed.moved), placed
    plain = replace(
        plain, status=status, samples=samples, lower_bound=None if lower == math.inf else lower, least_excess=excess,
        floors=by_capacity(judge, bounds),
    )  # fmt: skip
    return _at(plain, judge, point, points)


def _at(limited: Limited, judge: Judge, point: FrontPoint, points: Sequence[FrontPoint]) -> Limited:
    """Return the answer with this point, and points that were found beside it."""
    excess = judge.excess(point.values)
    return replace(
        limited, best=point if excess <= 1 else None, nearest=point, excess=excess,
        points=with_points(limited.points, limited.objectives, points),
    )  # fmt: skip


def _with_answers(
    question: Question, judge: Judge, limited: Limited, effort: Effort
) -> tuple[Limited, list[FrontPoint]]:
    """Return the answer, or that of `partition` for one of its metrics where that is better; and all of these.

    They are asked for in its memory, where it is not proved.
    """
    known = limited.nearest
    assert known is not None, "a plan runs"
    if limited.status not in ("feasible", "gave_up"):
        return limited, []
    found = _answers(question, judge, limited, effort)
    point = min(known, *found, key=lambda each: (each.placed is False, judge.key(each.values)))
    if judge.excess(point.values) <= 1:
        value = point.values[judge.target]
        lower = None if limited.lower_bound is None else min(value, limited.lower_bound)
        limited = replace(limited, status="optimal" if value == lower else "feasible", lower_bound=lower)
    return _at(limited, judge, point, found), found


def _answers(question: Question, judge: Judge, limited: Limited, effort: Effort) -> list[FrontPoint]:
    """Return the answers of `partition` for each metric in the memory of an answer."""
    known, plane, found = limited.nearest, judge.plane, list[FrontPoint]()
    assert known is not None, "a plan runs"
    memory = question.problem.memory_of(known.accelerator)
    for metric in metrics_of(plane.names):
        each = answer_in(question, memory, metric, effort)
        values = plane.judged(each.evaluations)
        found.append(FrontPoint(values, each.accelerator, each.plans, each.evaluations, each.moved, each.placed))
    return found


def _answer(
    question: Question, cloud: Cloud, judge: Judge, point: FrontPoint | None, lower: float | None, status: Status,
    excess: float = 0.0,
) -> Limited:  # fmt: skip
    problem, keeps = question.problem, point is not None and judge.excess(point.values) <= 1
    return Limited(
        minimize=judge.plane.names[judge.target],
        limits=judge.limits,
        networks=tuple(network.name for network in problem.networks),
        weights=problem.objective.weights,
        seed=question.seed,
        samples=cloud.samples,
        status=status,
        objectives=judge.plane.names,
        best=point if keeps else None,
        nearest=point,
        lower_bound=lower,
        excess=None if point is None else judge.excess(point.values),
        least_excess=excess,
        engine=cloud.breeder.name,
        points=cloud.points(),
    )
