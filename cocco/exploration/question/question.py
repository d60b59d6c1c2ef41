"""The checked input of every search in this package: a problem, and the effort with its defaults filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cocco.candidates.operators import operators_of
from cocco.effort.effort import Effort, Initial, Progress
from cocco.effort.levels import LEVELS, Level, level_of
from cocco.effort.settings import Settings
from cocco.exploration.question.runnable import runnable
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.kernel.choice import engine_name
from simulator.partition.partition import Partition


@dataclass(frozen=True)
class Question:
    """A checked problem and effort.

    engine: the one that prices; threads: its threads. initial: labels of partitions to start from. may_run: False if
    every memory is ruled out (cocco.exploration.question.runnable); otherwise the problem excludes memories ruled out.
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
    bank: tuple[str, ...] = ()  #: the entries of the bank that some of `initial` are of
    search: str = ""  #: the name of this search there

    def budget(self, count: int) -> int:
        """Return a budget of counted work, scaled for this search; count: that of a normal search."""
        return self.level.of(count)

    def share(self, effort: float) -> float:
        """Return the deterministic time that solvers may take, scaled for this search; effort: in a normal search."""
        return effort * float(self.level.times)


def question_of(problem: Problem, effort: Effort, default: Settings) -> Question:
    """Return the question of a problem; default: the settings of this search where the effort gives none."""
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
