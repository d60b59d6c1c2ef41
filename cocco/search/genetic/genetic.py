"""The genetic algorithm (Cocco, Sec. 4.4): select, cross, mutate, repair, evaluate."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.effort.effort import Progress
from cocco.effort.settings import Settings
from cocco.problem.problem import Problem
from cocco.search.genetic.engine import Engine, HalfGeneration, ReferenceEngine
from cocco.search.genetic.islands import Islands
from cocco.search.genetic.population import Population
from cocco.search.genetic.snapshot import Snapshot, keeper_of
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
    parents: Population | None = None,
    left: list[Population] | None = None,
) -> Trace:
    """Return the trace of a search that priced exactly this many samples, or fewer if the user stopped it.

    spent: samples that finding the founders took, which count among them.
    founders: for each population of random genomes, labels of partitions that it has in addition, as far as there are
    any. Populations follow each other as described in cocco.search.genetic.islands, and the best genome of all is the
    answer. engine: makes the generations, by default the Python engine.
    parents: a population to continue with, like one from the best of all. left: receives the result of the search, the
    best of each population since that one.
    """
    engine = engine or ReferenceEngine(problem, settings)
    trace = Trace(problem, samples, progress, engine.name)
    trace.spend(spent)
    nobody = Population.empty(0, problem.size, len(problem.buffers))
    islands = Islands(settings, samples - spent)
    waiting = [[list(labels) for labels in each] for each in founders[::-1]]
    at = Snapshot(nobody, waiting, waiting.pop() if waiting else [])
    if parents is not None:
        at.population, islands.is_reunion = parents, True
    keeper = keeper_of(problem, samples, seed, settings, founders)
    keeper.find(at, trace, islands)
    try:
        while trace.left:
            parents = at.population.by_cost()  # ties stay in the order of their making
            renewed = islands.next(parents, at.generation - at.improved, trace.samples - spent)
            if renewed is not None:
                parents, at.improved = renewed, at.generation
                at.initial = at.waiting.pop() if at.waiting and not len(parents.cost) else []
            most = _generations(settings, islands, parents, trace.left, trace.samples - spent)
            if most:
                stale = at.generation - at.improved
                made = engine.evolve(seed, at.generation, parents, most, stale, trace.least)
                if made is not None:
                    trace.record_all(made)
                    at.population, at.generation = made.population, at.generation + len(made.costs)
                    at.improved = at.generation - made.stale
                    keeper.keep(at, trace, islands)
                    continue
            elite = parents.rows(0, settings.elite)
            count = min(settings.population - len(elite.cost), trace.left)
            children = engine.breed(seed, at.generation, parents, at.initial, count)
            at.population = elite.joined(children)
            if not len(parents.cost) or at.population.cost.min() < parents.cost[0]:
                at.improved = at.generation
            trace.record(children, at.population)
            at.generation += 1
            keeper.keep(at, trace, islands)
    except KeyboardInterrupt as stop:
        if isinstance(stop, HalfGeneration) and len(stop.children.cost):
            trace.record(stop.children, elite.joined(stop.children))
        if not at.generation and trace.samples == spent:
            first = engine.breed(seed, 0, nobody, at.initial, 1)
            trace.record(first, first)
        trace.is_stopped = True
    last = at.population.by_cost().rows(0, settings.elite)
    if left is not None:
        left += [last, *islands.kept]
    return trace


def _generations(settings: Settings, islands: Islands, parents: Population, left: int, samples: int) -> int:
    """Return how many whole generations this population can have before anything but patience ends it."""
    if len(parents.cost) != settings.population:
        return 0
    return min(left, islands.left(samples)) // (settings.population - settings.elite)
