"""The front with kept tensors: what `cocco.pareto` answers with keep="auto"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cocco.bounds.kept_bounds import memories
from cocco.bounds.kept_memories import QUICK_STEPS, QUICK_TOTAL
from cocco.exploration.front import Front, FrontPoint
from cocco.exploration.kept_front import (
    Budgets,
    KeptPoints,
    best_points,
    of_value,
    point_with,
    solved_points,
    with_points,
)
from cocco.exploration.kept_search import IMPROVING_STEPS, in_other_memory
from cocco.exploration.pareto import STEPS, empty_cloud, front_with, point_of, searched
from cocco.exploration.question import Question
from cocco.problem.criteria import metrics_of
from cocco.problem.names import FrontMethod
from cocco.problem.plane import Plane
from cocco.problem.planned import Planned
from cocco.problem.problem import in_memory
from cocco.problem.status import Interrupted, Status
from cocco.search.keeping.improve import improve_plans

MOST_MEMORIES = 100  #: all are solved with kept tensors; of more only those of the front without; our choice


def front_with_kept(question: Question, plane: Plane, method: FrontMethod) -> Front:
    """Return the front with kept tensors: of exact proven memory by memory, else beside the one without."""
    problem = question.problem
    plain = replace(question, problem=replace(problem, keep="none"))
    every = memories(problem)
    if method == "exact":
        cloud = empty_cloud(plain, plane)
        cloud.price(np.arange(problem.size)[None], np.zeros((1, 2), np.int64))
        chosen, budgets = every, Budgets(STEPS, len(every) * STEPS, None)
    else:
        cloud = searched(plain, plane)
        buffers = len(problem.buffers)
        chosen = every if len(every) <= MOST_MEMORIES else [tuple(row[:buffers]) for row in cloud.capacities.tolist()]
        budgets = Budgets(QUICK_STEPS, QUICK_TOTAL)
    rows = [point_of(cloud, row) for row in range(len(cloud.values))]
    kept = KeptPoints([], False, True) if cloud.is_stopped else solved_points(question, plane, chosen, budgets)
    if method == "nsga2" and not kept.is_proven and not kept.is_stopped:
        kept = improved_points(question, plane, rows, kept)
    left: Status = "gave_up" if method == "exact" else "feasible"
    front = front_with(
        cloud, question.seed, method, "optimal" if kept.is_proven else left, best_points([*kept.found, *rows])
    )
    front = replace(front, points=with_points(front.points, plane.names, kept.found))
    if kept.is_stopped:
        raise Interrupted(replace(front, status="stopped"))
    return front


def improved_points(question: Question, plane: Plane, rows: Sequence[FrontPoint], kept: KeptPoints) -> KeptPoints:
    """Return the points with kept tensors, and with them those of the front without, improved by exact windows.

    In the first metric of the objectives; all points together take the steps that `explore` takes for one memory.
    """
    valued = of_value(question.problem, metrics_of(plane.names)[0])
    steps, found = IMPROVING_STEPS * question.samples // max(1, len(rows)), list(kept.found)
    try:
        for row in rows:
            memory = tuple(
                sizes.index(getattr(row.accelerator, name)) for name, sizes in question.problem.buffers.items()
            )
            plans = in_other_memory(valued, row.plans, memory, question.seed)
            if plans is None:
                continue
            better = improve_plans(in_memory(valued, memory), plans, steps, question.seed, question.engine)
            if better.cost < math.inf:
                found.append(point_with(valued, plane, Planned(memory, better.partitions, better.cost, better.cost)))
            if better.is_stopped:
                return KeptPoints(found, False, True)
    except KeyboardInterrupt:
        return KeptPoints(found, False, True)
    return KeptPoints(found, False, False)
