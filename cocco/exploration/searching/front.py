"""The points of a front that the table of memories adds to those of a search; improved where it solves too few."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cocco.effort.budgets import FAILURES, KEPT_STEPS, KEPT_TOTAL, MAX_STEPS
from cocco.effort.planned import Planned
from cocco.effort.work_units import once, precompute
from cocco.exploration.answers.front import FrontPoint
from cocco.exploration.memories.front import (
    SolvedPoints,
    of_value,
    point_with,
    solved_points,
)
from cocco.exploration.memories.solved import StepBudget
from cocco.exploration.question.question import Question
from cocco.exploration.searching.improve import improve_plans
from cocco.exploration.searching.keeping import IMPROVING_STEPS, in_other_memory
from cocco.problem.criteria import metrics_of
from cocco.problem.names import FrontMethod
from cocco.problem.plane import Plane
from cocco.problem.problem import in_memory

MOST_MEMORIES = 100  #: all are solved with kept tensors; of more only those of the front without; our choice


def memory_points(question: Question, plane: Plane, method: FrontMethod, rows: Sequence[FrontPoint]) -> SolvedPoints:
    """Return the cheapest plans of the memories, with kept tensors if they are allowed; with method "exact" of all.

    rows: the front without kept tensors. If there are not too many memories, each is solved, else those of these rows.
    """
    every = question.problem.memories
    if method == "exact":
        return solved_points(question, plane, every, StepBudget(MAX_STEPS, len(every) * MAX_STEPS))
    chosen = every if len(every) <= MOST_MEMORIES else [question.problem.memory_of(row.accelerator) for row in rows]
    kept = solved_points(
        question, plane, chosen, StepBudget(question.budget(KEPT_STEPS), question.budget(KEPT_TOTAL), FAILURES)
    )
    return kept if kept.is_proven or kept.is_stopped else improved_points(question, plane, rows, kept)


def improved_points(question: Question, plane: Plane, rows: Sequence[FrontPoint], kept: SolvedPoints) -> SolvedPoints:
    """Return the points with kept tensors, plus those of the front without, improved by exact windows.

    They are improved in the first metric of the objectives. All points together take as many steps as `explore` takes
    for one memory.
    """
    valued = of_value(question.problem, metrics_of(plane.names)[0])
    steps, found = IMPROVING_STEPS * question.samples // max(1, len(rows)), list(kept.found)
    chosen = [(row, question.problem.memory_of(row.accelerator)) for row in rows]
    try:
        given = [(memory, in_other_memory(valued, row.plans, memory, question.seed)) for row, memory in chosen]
        jobs = [
            (memory, (in_memory(valued, memory), plans, steps, question.seed, question.engine))
            for memory, plans in given
            if plans is not None
        ]
        for number, (memory, job) in enumerate(jobs):
            precompute(improve_plans, (each for _, each in jobs[number:]))
            better = once(improve_plans, *job)
            if better.cost < math.inf:
                found.append(point_with(valued, plane, Planned(memory, better.partitions, better.cost, better.cost)))
            if better.is_stopped:
                return SolvedPoints(found, False, True)
    except KeyboardInterrupt:
        return SolvedPoints(found, False, True)
    return SolvedPoints(found, False, False)
