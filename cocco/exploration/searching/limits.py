"""Minimize one criterion under limits, with kept tensors, where no proof finishes: by the search that `explore` uses.

It starts from the best known point, in its memory, and lowers the metric of the criterion: by the genetic algorithm
with the kept intervals of each genome, then by exact windows there and in neighbouring memories
(cocco.exploration.searching.keeping). It always continues from the best it has found under the limits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cocco.effort.planned import Memory, priced
from cocco.effort.settings import Settings
from cocco.exploration.answers.front import FrontPoint
from cocco.exploration.memories.front import of_value, point_with
from cocco.exploration.question.question import Question
from cocco.exploration.searching.divided_search import search
from cocco.exploration.searching.keeping import BestPlans, improve
from cocco.problem.criteria import metrics_of
from cocco.problem.problem import Problem, in_memory
from cocco.search.keeping.genome import decoded
from simulator.partition.partition import Partition

if TYPE_CHECKING:
    from cocco.exploration.memories.limits import Judge


class FoundPoints(NamedTuple):
    """Points, each better than those before; how many genomes were priced; whether the user stopped the search."""

    found: list[FrontPoint]
    samples: int
    is_stopped: bool


class _Best(BestPlans):
    """The best plans so far, judged by the criterion and the limits."""

    def __init__(self, problem: Problem, judge: Judge, known: FrontPoint, memory: Memory) -> None:
        super().__init__(problem, priced(problem, memory, known.plans))
        self.judge, self.point, self.found = judge, known, list[FrontPoint]()

    def offer(self, memory: Memory, plans: tuple[Partition, ...]) -> bool:
        """Take plans if they are better; return whether they are."""
        found = priced(self.problem, memory, plans)
        point = point_with(self.problem, self.judge.plane, found)
        if self.judge.key(point.values) >= self.judge.key(self.point.values):
            return False
        self.planned, self.point = found, point
        self.found.append(point)
        return True


def searched_points(question: Question, judge: Judge, known: FrontPoint) -> FoundPoints:
    """Return points better than the known one, the best last."""
    names = judge.plane.names
    valued = of_value(question.problem, metrics_of([judge.first(known.values), *names])[0])
    memory = question.problem.memory_of(known.accelerator)
    best = _Best(valued, judge, known, memory)
    given = in_memory(valued, memory)
    share = replace(
        question, problem=given, samples=max(2, question.samples // 2), settings=Settings(), progress=None,
        initial=[given.labels(known.plans)],
    )  # fmt: skip
    samples = 0
    try:
        trace = search(share)
        samples = trace.samples
        best.offer(memory, decoded(given, trace.best.genome))
        is_stopped = trace.is_stopped or improve(replace(question, problem=valued), best)
    except KeyboardInterrupt:
        is_stopped = True
    return FoundPoints(best.found, samples, is_stopped)
