"""A DEAP toolbox over single genomes, for people who write their own loop around Cocco's operators.

toolbox = cocco.search.toolbox(network, SharedBuffer(), seed=1)
population, logbook = deap.algorithms.eaSimple(toolbox.population(n=100), toolbox, cxpb=0.8, mutpb=0.5, ngen=20)
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Unpack

from cocco.problem.genome import groups_of
from cocco.problem.names import Metric
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.settings import Settings
from cocco.problem.space import Space
from cocco.problem.stream import Stream, check_seed
from cocco.search.genetic.breeder import Breeder
from cocco.search.genetic.crossover import crossover
from cocco.search.pricing.genomes import Pricer
from simulator.accelerator import Accelerator, Machine, MachineFields
from simulator.keywords import check_keywords
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network

if TYPE_CHECKING:
    from deap import base

    from cocco.search.genetic.individual import Individual


class ToolboxFields(MachineFields, total=False):
    """The rest of the question as keywords; on given hardware metric, weights and tile_rule only."""

    machine: Machine | None
    alpha: float
    metric: Metric
    weights: Sequence[float] | None
    tile_rule: TileRule


def toolbox(
    networks: Network | Sequence[Network],
    memory: Accelerator | Space | None = None,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    **question: Unpack[ToolboxFields],
) -> base.Toolbox:
    """Return a toolbox with individual, population, mate, mutate, select, evaluate and decode.

    memory: an Accelerator (one network, Formula 1) or a space of memories (Formula 2). question: metric,
    weights, tile_rule, and for a space alpha, machine, and its fields by their names.
    evaluate exchanges the individual's genome for the one after in-situ split, so that it is what was priced.
    decode(individual) returns the accelerator and a tuple of one partition per network.
    """
    from deap import base, tools  # here and not above: `import cocco` stays light

    from cocco.search.genetic.individual import Individual

    check_keywords(toolbox, question, ToolboxFields.__optional_keys__)
    check_seed(seed)
    random.seed(seed)  # DEAP's own operators (selTournament, varAnd) draw from the global `random`; ours never do
    asked: dict[str, Any] = {**question}
    if isinstance(memory, Accelerator):
        problem = on_hardware(networks, memory, **asked)
    else:
        problem = over_space(networks, memory, **asked)
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
