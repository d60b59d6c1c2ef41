"""The genetic algorithm (Cocco, Sec. 4.4): select, cross, mutate, repair, evaluate. The reference engine."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.search.breeder import Breeder
from cocco.search.pricing import Pricer, Sample
from cocco.search.problem import Problem
from cocco.search.settings import Settings
from cocco.search.stream import Stream
from cocco.search.trace import Progress, Trace


def genetic(
    problem: Problem,
    samples: int,
    seed: int,
    settings: Settings,
    initial: Sequence[Sequence[int]] = (),
    progress: Progress | None = None,
) -> Trace:
    """Return the trace of a search that priced exactly this many samples, or fewer if the user stopped it.

    initial: labels of partitions to start from. A population that does not improve for `patience` generations
    starts anew at random, and the best genome of all is the answer (our choice: small networks converge long
    before the samples are spent).
    """
    breeder = Breeder(problem, settings)
    pricer = Pricer(problem, settings.model_memo, settings.price_memo)
    trace = Trace(problem, samples, progress)
    population: list[Sample] = []
    generation = improved = 0
    try:
        while trace.left:
            if settings.patience and generation - improved > settings.patience:
                population, initial = [], ()
            parents = sorted(population, key=_cost)  # stable: ties stay in the order of their making
            elite = parents[: settings.elite]
            known = {parent.genome.key for parent in parents}
            for child in range(min(settings.population - len(elite), trace.left)):
                stream = Stream(seed, generation, child)
                if parents:
                    genome = breeder.child(parents, known, stream)
                else:
                    genome = breeder.founder(initial, child, stream)
                trace.add(pricer.evaluate(genome, stream))
            population = trace.close(elite)
            if not parents or min(population, key=_cost).cost < parents[0].cost:
                improved = generation
            generation += 1
    except KeyboardInterrupt:
        if not trace.samples:
            stream = Stream(seed, 0, 0)
            trace.add(pricer.evaluate(breeder.founder(initial, 0, stream), stream))
        trace.stop()
    return trace


def _cost(sample: Sample) -> float:
    return sample.cost
