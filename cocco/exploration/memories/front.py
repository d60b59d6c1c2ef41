"""Fronts: the cheapest plans of each memory in the metrics of the objectives, from one table (solved.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cocco.candidates.judge import judged_plans
from cocco.candidates.rounding import SAME
from cocco.effort.planned import Memory, Planned
from cocco.exploration.answers.front import FrontPoint
from cocco.exploration.memories.solved import Memories, StepBudget
from cocco.exploration.question.question import Question
from cocco.problem.criteria import MEMORY, metrics_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane, of_memory
from cocco.problem.problem import Problem


class SolvedPoints(NamedTuple):
    """Points of solved memories, whether they include all that can be on a front, and whether the user stopped."""

    found: list[FrontPoint]
    is_proven: bool
    is_stopped: bool


def of_value(problem: Problem, metric: Metric) -> Problem:
    """Return the problem with Formula 1 in a metric; tiles and loop orders are still chosen by the problem's own."""
    objective = replace(problem.objective, metric=metric, alpha=None)
    return replace(problem, objective=objective, chosen_by=problem.metric)


def solved_points(question: Question, plane: Plane, chosen: Sequence[Memory], most: StepBudget) -> SolvedPoints:
    """Return the cheapest plans of these memories in each metric of the objectives.

    With two objectives, one of which depends on the memory alone, only plans that beat those of all smaller memories
    are sought; what is left out is on no front.
    """
    problem, metrics = question.problem, metrics_of(plane.names)
    is_plane = len(plane.names) == 2 and any(name in MEMORY for name in plane.names)
    size = next((name for name in plane.names if name in MEMORY), "capacity")
    ascending = sorted(chosen, key=lambda memory: (of_memory(size, plane.machine(memory), problem.objective), memory))
    found: list[FrontPoint] = []
    is_proven = is_plane and set(chosen) == set(problem.memories)
    try:
        for metric in metrics:
            table, most.in_a_row = Memories(of_value(problem, metric), question.engine), 0
            for _, solved in table.next(ascending, most):
                is_proven &= solved.is_decided
                if solved.best is not None:
                    found.append(point_with(table.problem, plane, solved.best))
                    table.below = min(table.below, solved.best.value) if is_plane else math.inf
    except KeyboardInterrupt:
        return SolvedPoints(found, False, True)
    return SolvedPoints(found, is_proven and not most.is_short, False)


def point_with(valued: Problem, plane: Plane, planned: Planned) -> FrontPoint:
    """Return plans of a problem with Formula 1 as a point; RuntimeError if the simulator's price differs."""
    winner = judged_plans(
        valued, planned.plans, planned.memory, [planned.value],
        lambda evaluations: (valued.objective.judged(evaluations),), SAME,
    )  # fmt: skip
    return FrontPoint(plane.judged(winner.evaluations), winner.accelerator, winner.plans, winner.evaluations)
