"""The least of one criterion under limits, with kept tensors, where no proof finishes: the search that `explore` has.

It starts from the best point that is known, in its memory, and makes the metric of what is minimized less: the genetic
algorithm with the intervals of each genome, then exact windows there and in the neighbouring memories
(cocco.exploration.kept_search). Of all that it finds it goes on from what is best under the limits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cocco.exploration import methods
from cocco.exploration.front import FrontPoint
from cocco.exploration.kept_front import memory_of, of_value, point_with
from cocco.exploration.kept_search import Best, improve
from cocco.exploration.question import Question
from cocco.problem.criteria import metrics_of
from cocco.problem.planned import Memory, priced
from cocco.problem.problem import Problem, in_memory
from cocco.problem.settings import Settings
from cocco.search.keeping.genome import decoded
from simulator.partition.partition import Partition

if TYPE_CHECKING:
    from cocco.exploration.kept_limits import Judge


class FoundPoints(NamedTuple):
    """Points, each better than the ones before; how many genomes were priced; whether the user ended the search."""

    found: list[FrontPoint]
    samples: int
    is_stopped: bool


class _Best(Best):
    """The best plans so far by what is minimized and the limits."""

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
    """Return what is better than the known point, the best one last."""
    names = judge.plane.names
    valued = of_value(question.problem, metrics_of([names[judge.target], *names])[0])
    memory = memory_of(question, known)
    best = _Best(valued, judge, known, memory)
    given = in_memory(valued, memory)
    share = replace(
        question, problem=given, samples=max(2, question.samples // 2), settings=Settings(), progress=None,
        initial=[given.labels(known.plans)],
    )  # fmt: skip
    samples = 0
    try:
        found = methods.search(share)
        samples = found.samples
        best.offer(memory, decoded(given, found.trace.best.genome))
        is_stopped = found.trace.is_stopped or improve(replace(question, problem=valued), best)
    except KeyboardInterrupt:
        is_stopped = True
    return FoundPoints(best.found, samples, is_stopped)
