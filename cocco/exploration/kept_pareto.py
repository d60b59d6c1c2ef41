"""The front with kept tensors: what `cocco.pareto` answers with keep="auto"."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cocco.bounds.kept_bounds import memories
from cocco.bounds.kept_memories import QUICK_STEPS, QUICK_TOTAL
from cocco.exploration.front import Front
from cocco.exploration.kept_front import Budgets, KeptPoints, best_points, solved_points, with_points
from cocco.exploration.pareto import STEPS, empty_cloud, front_with, point_of, searched
from cocco.exploration.question import Question
from cocco.problem.names import FrontMethod
from cocco.problem.plane import Plane
from cocco.problem.status import Interrupted, Status

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
    left: Status = "gave_up" if method == "exact" else "feasible"
    front = front_with(
        cloud, question.seed, method, "optimal" if kept.is_proven else left, best_points([*kept.found, *rows])
    )
    front = replace(front, points=with_points(front.points, plane.names, kept.found))
    if kept.is_stopped:
        raise Interrupted(replace(front, status="stopped"))
    return front
