"""The genetic algorithm (Cocco, Sec. 4.4): select, cross, mutate, repair, evaluate."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.problem.effort import Progress
from cocco.problem.problem import Problem
from cocco.problem.settings import Settings
from cocco.search.genetic.engine import Engine, HalfGeneration, ReferenceEngine
from cocco.search.genetic.islands import Islands
from cocco.search.genetic.population import Population
from cocco.search.genetic.trace import Trace


def genetic(
    problem: Problem,
    samples: int,
    seed: int,
    settings: Settings,
    founders: Sequence[Sequence[Sequence[int]]] = (),
    progress: Progress | None = None,
    engine: Engine | None = None,
    spent: int = 0,
    ends: list[Population] | None = None,
) -> Trace:
    """Return the trace of a search that priced exactly this many samples, or fewer if the user stopped it.

    spent: samples that finding the founders took, which count among them.
    founders: for each population from random genomes the labels of partitions that it has beside them, as far as
    there are any. Populations follow each other as cocco.search.genetic.islands says, and the best genome of all is the
    answer. engine: who makes the generations, by default the Python engine. ends: gets the elite of each population
    as it was when its time was over.
    """
    engine = engine or ReferenceEngine(problem, settings)
    trace = Trace(problem, samples, progress, engine.name)
    trace.spend(spent)
    nobody = Population.empty(0, problem.size)
    population = nobody
    islands = Islands(settings, samples - spent)
    waiting = [list(each) for each in founders[::-1]]
    initial = waiting.pop() if waiting else []
    generation = improved = 0
    try:
        while trace.left:
            parents = population.by_cost()  # ties stay in the order of their making
            renewed = islands.next(parents, generation - improved, trace.samples - spent)
            if renewed is not None:
                if ends is not None:
                    ends.append(parents.rows(0, settings.elite))
                parents, improved = renewed, generation
                initial = waiting.pop() if waiting and not len(parents.cost) else []
            elite = parents.rows(0, settings.elite)
            count = min(settings.population - len(elite.cost), trace.left)
            children = engine.breed(seed, generation, parents, initial, count)
            population = elite.joined(children)
            if not len(parents.cost) or population.cost.min() < parents.cost[0]:
                improved = generation
            trace.record(children, population)
            generation += 1
    except KeyboardInterrupt as stop:
        if isinstance(stop, HalfGeneration) and len(stop.children.cost):
            trace.record(stop.children, elite.joined(stop.children))
        if not generation and trace.samples == spent:
            first = engine.breed(seed, 0, nobody, initial, 1)
            trace.record(first, first)
        trace.is_stopped = True
    if ends is not None and len(population.cost):
        ends.append(population.by_cost().rows(0, settings.elite))
    return trace
