"""The genetic algorithm (Cocco, Sec. 4.4): select, cross, mutate, repair, evaluate."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.search.engine import Engine, Interrupted, ReferenceEngine
from cocco.search.population import Population
from cocco.search.problem import Problem
from cocco.search.settings import Settings
from cocco.search.trace import Progress, Trace


def genetic(
    problem: Problem,
    samples: int,
    seed: int,
    settings: Settings,
    initial: Sequence[Sequence[int]] = (),
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Trace:
    """Return the trace of a search that priced exactly this many samples, or fewer if the user stopped it.

    initial: labels of partitions to start from. A population that does not improve for `patience` generations
    starts anew at random, and the best genome of all is the answer (our choice: small networks converge long
    before the samples are spent). engine: who makes the generations, by default the Python engine.
    """
    engine = engine or ReferenceEngine(problem, settings)
    trace = Trace(problem, samples, progress, engine.name)
    nobody = Population.empty(0, problem.size)
    population = nobody
    generation = improved = 0
    try:
        while trace.left:
            if settings.patience and generation - improved > settings.patience:
                population, initial = nobody, ()
            parents = population.by_cost()  # ties stay in the order of their making
            elite = parents.rows(0, settings.elite)
            count = min(settings.population - len(elite.cost), trace.left)
            children = engine.breed(seed, generation, parents, initial, count)
            population = elite.joined(children)
            if not len(parents.cost) or population.cost.min() < parents.cost[0]:
                improved = generation
            trace.record(children, elite)
            generation += 1
    except KeyboardInterrupt as stop:
        if isinstance(stop, Interrupted) and len(stop.children.cost):
            trace.record(stop.children, elite)
        if not trace.samples:
            trace.record(engine.breed(seed, 0, nobody, initial, 1), nobody)
        trace.is_stopped = True
    return trace
