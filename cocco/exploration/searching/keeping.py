"""The search with kept tensors where no proof finishes: genomes with decoded intervals, then exact windows.

It starts from what a search with half the samples finds without kept tensors and never drops a better plan, so it ends
no worse than that. The best plans are improved in their memory, then in neighbouring memories as long as that pays (our
choices). Budgets are counts that grow with the samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from cocco.candidates.genome import Genome
from cocco.candidates.stream import MOVED, Stream
from cocco.effort.budgets import FURTHER_SAMPLES, FURTHER_STEPS, IMPROVING_STEPS, SAMPLE_STEPS
from cocco.effort.planned import Memory, Planned, priced
from cocco.effort.stages import tell
from cocco.effort.work_units import once, precompute
from cocco.exploration.question.question import Question
from cocco.exploration.searching.baselines import neighbours
from cocco.exploration.searching.divided_search import search
from cocco.exploration.searching.improve import first_plans, improve_plans
from cocco.problem.problem import Problem, in_memory
from cocco.search.genetic.trace import Trace
from cocco.search.keeping.genome import decoded
from cocco.search.pricing.genomes import Pricer
from simulator.partition.partition import Partition

MOST_MOVES = 6  #: memories at most that the best plans move to


class BestPlans:
    """The best plans so far: the answer after Ctrl-C."""

    def __init__(self, problem: Problem, planned: Planned) -> None:
        self.problem, self.planned = problem, planned

    def offer(self, memory: Memory, plans: tuple[Partition, ...]) -> bool:
        """Take plans if they cost less than the best; return whether they do."""
        found = priced(self.problem, memory, plans)
        if not found.cost < self.planned.cost:
            return False
        self.planned = found
        return True


def genetic_search(question: Question, best: BestPlans) -> Trace:
    """Return the samples of the genetic algorithm with decoded intervals, started from the best plans.

    Its best plans are offered to `best`.
    """
    labels = best.problem.labels(best.planned.plans)
    room = max(0, min(question.samples, question.settings.population) - 1)
    initial = [labels, *question.initial][: room or 1]
    trace = search(replace(question, initial=initial))
    best.offer(trace.best.genome.capacities, decoded(best.problem, trace.best.genome))
    return trace


def improve(question: Question, best: BestPlans) -> bool:
    """Improve the best plans in their memory and its neighbours; return whether the user stopped it."""
    problem, steps = best.problem, IMPROVING_STEPS * question.samples
    steps += FURTHER_STEPS * min(question.samples, FURTHER_SAMPLES)
    memory = best.planned.memory
    try:
        tell("kept tensors", 0, 1 + MOST_MOVES, "memories", best=best.planned.cost)
        given, labels = in_memory(problem, memory), problem.labels(best.planned.plans)
        best.offer(memory, once(first_plans, given, labels, question.engine, SAMPLE_STEPS * question.samples))
        if _improve_in(question, best, memory, best.planned.plans, steps):
            return True
        seen, moves = {memory}, 0
        while moves < MOST_MOVES:
            tried = [each for each in neighbours(problem, best.planned.memory) if each not in seen]
            if not tried:
                return False
            seen.add(tried[0])
            moves += 1
            following = tried[: 1 + MOST_MOVES - moves]
            precompute(improve_plans, _jobs(question, best, following, steps // 4))
            tell("kept tensors", moves, 1 + MOST_MOVES, "memories", best=best.planned.cost)
            plans = in_other_memory(problem, best.planned.plans, tried[0], question.seed)
            if plans is not None and _improve_in(question, best, tried[0], plans, steps // 4):
                return True
    except KeyboardInterrupt:
        return True
    return False


def _improve_in(
    question: Question, best: BestPlans, memory: Memory, plans: tuple[Partition, ...], steps: int
) -> bool:  # fmt: skip
    found = once(improve_plans, *_job(question, best, memory, plans, steps))
    if found.cost < math.inf:
        best.offer(memory, found.partitions)
    return found.is_stopped


def _job(
    question: Question, best: BestPlans, memory: Memory, plans: tuple[Partition, ...], steps: int
) -> tuple[Any, ...]:
    return in_memory(best.problem, memory), plans, steps, question.seed, question.engine


def _jobs(question: Question, best: BestPlans, following: Sequence[Memory], steps: int) -> Iterator[tuple[Any, ...]]:
    """Yield the jobs of these memories as they are if no earlier memory gives better plans."""
    for memory in following:
        plans = in_other_memory(best.problem, best.planned.plans, memory, question.seed)
        if plans is not None:
            yield _job(question, best, memory, plans, steps)


def in_other_memory(
    problem: Problem, plans: Sequence[Partition], memory: Memory, seed: int
) -> tuple[Partition, ...] | None:
    """Return plans for another memory: the same subgraphs, split to fit, with decoded intervals; None if none runs."""
    sample = Pricer(problem).evaluate(Genome(problem.labels(plans), memory), Stream(seed, MOVED, 0))
    return decoded(problem, sample.genome) if sample.value < math.inf else None
