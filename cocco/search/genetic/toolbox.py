"""A DEAP toolbox over single genomes, for people who write their own loop around Cocco's operators.

toolbox = cocco.search.toolbox(network, SharedBuffer(), seed=1)
population, logbook = deap.algorithms.eaSimple(toolbox.population(n=100), toolbox, cxpb=0.8, mutpb=0.5, ngen=20)
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from cocco.problem.genome import groups_of
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.settings import Settings
from cocco.problem.space import Space
from cocco.problem.stream import Stream, check_seed
from cocco.search.genetic.breeder import Breeder
from cocco.search.genetic.crossover import crossover
from cocco.search.pricing.genomes import Pricer
from simulator.accelerator import Accelerator
from simulator.partition.partition import Partition
from workloads.network.network import Network

if TYPE_CHECKING:
    from deap import base

    from cocco.search.genetic.individual import Individual


def toolbox(
    networks: Network | Sequence[Network],
    memory: Accelerator | Space | None = None,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    **question: Any,
) -> base.Toolbox:
    """Return a toolbox with individual, population, mate, mutate, select, evaluate and decode.

    memory: an Accelerator (one network, Formula 1) or a space of memories (Formula 2). question: metric,
    tile_rule, and for a space the other keywords of `cocco.explore`, such as alpha and weights.
    evaluate exchanges the individual's genome for the one after in-situ split, so that it is what was priced.
    decode(individual) returns the accelerator and a tuple of one partition per network.
    """
    from deap import base, tools  # here and not above: `import cocco` stays light

    from cocco.search.genetic.individual import Individual

    check_seed(seed)
    random.seed(seed)  # DEAP's own operators (selTournament, varAnd) draw from the global `random`; ours never do
    if isinstance(memory, Accelerator):
        problem = on_hardware(networks, memory, **question)
    else:
        problem = over_space(networks, memory, **question)
    settings = settings or Settings()
    breeder = Breeder(problem, settings)
    pricer = Pricer(problem, settings.model_memo, settings.price_memo)
    streams = (Stream(seed, 0, call) for call in count())  # one for each call

    def individual() -> Individual:
        return Individual(breeder.founder((), 0, next(streams)))

    def mate(first: Individual, second: Individual) -> tuple[Individual, Individual]:
        parents = first.genome, second.genome
        first.genome = breeder.repaired(crossover(problem, *parents, next(streams)))
        second.genome = breeder.repaired(crossover(problem, *parents[::-1], next(streams)))
        return first, second

    def mutate(individual: Individual) -> tuple[Individual]:
        individual.genome = breeder.repaired(breeder.mutate(individual.genome, next(streams)))
        return (individual,)

    def evaluate(individual: Individual) -> tuple[float]:
        sample = pricer.evaluate(individual.genome, next(streams))
        individual.genome = sample.genome
        return (sample.cost,)

    def decode(individual: Individual) -> tuple[Accelerator, tuple[Partition, ...]]:
        genome = individual.genome
        return problem.accelerator_of(genome.capacities), problem.partitions(groups_of(genome.labels))

    box = base.Toolbox()
    box.register("individual", individual)
    box.register("population", tools.initRepeat, list, individual)
    box.register("mate", mate)
    box.register("mutate", mutate)
    box.register("select", tools.selTournament, tournsize=settings.tournament)
    box.register("evaluate", evaluate)
    box.register("decode", decode)
    return box
