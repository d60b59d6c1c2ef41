"""What every search of this room is asked, checked: a problem, and the effort with its defaults put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cocco.exploration.runnable import runnable
from cocco.problem.effort import Effort, Initial, Progress
from cocco.problem.levels import LEVELS, Level, level_of
from cocco.problem.names import EngineName
from cocco.problem.operators import operators_of
from cocco.problem.problem import Problem
from cocco.problem.settings import Settings
from cocco.search.kernel.choice import engine_name
from simulator.partition.partition import Partition


@dataclass(frozen=True)
class Question:
    """engine: the one that answers; threads: its threads. initial: labels of partitions to start from.

    may_run: False where every memory is ruled out (cocco.exploration.runnable); else the problem is without those.
    """

    problem: Problem
    samples: int
    seed: int
    settings: Settings
    engine: EngineName
    threads: int = 1
    progress: Progress | None = None
    initial: Sequence[Sequence[int]] = ()
    level: Level = LEVELS["normal"]
    may_run: bool = True

    def budget(self, count: int) -> int:
        """Return how much of some counted work may be done; count: in a normal search."""
        return self.level.of(count)

    def share(self, effort: float) -> float:
        """Return how much deterministic time solvers may take; effort: in a normal search."""
        return effort * float(self.level.times)


def question_of(problem: Problem, effort: Effort, default: Settings) -> Question:
    """Return the question; default: what this search has in place of settings that are not given."""
    settings = effort.settings or default
    if effort.operators:
        settings = replace(settings, operators=settings.operators + operators_of(effort.operators))
    found = runnable(problem)
    return Question(
        found or problem,
        effort.samples,
        effort.seed,
        settings,
        engine_name(effort.engine, problem, effort.threads),
        effort.threads,
        effort.progress,
        _labels_of(problem, effort.initial, min(effort.samples, settings.population)),
        level_of(effort.level),
        found is not None,
    )


def _labels_of(problem: Problem, initial: Initial, most: int) -> list[list[int]]:
    given: list[Partition | Sequence[Partition]] = [initial] if isinstance(initial, Partition) else list(initial)
    if len(given) > most:
        raise ValueError(f"initial must have at most {most} partitions (the first generation), got {len(given)}")
    return [problem.labels([each] if isinstance(each, Partition) else each) for each in given]
