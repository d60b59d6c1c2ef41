"""A DEAP toolbox over single genomes, for people who write their own loop around Cocco's operators."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from cocco.candidates.genome import Genome, groups_of
from cocco.candidates.stream import Stream, check_seed
from cocco.effort.settings import Settings
from cocco.problem.criteria import check_objectives, metrics_of
from cocco.problem.names import Metric
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.problem.space import Space
from cocco.search.genetic.operators.breeder import Breeder
from cocco.search.genetic.operators.checked import checked_genome
from cocco.search.genetic.operators.crossover import crossover
from cocco.search.genetic.operators.mutation import (
    merge_subgraphs,
    modify_node,
    mutate_capacity,
    shift_layers,
    split_subgraph,
)
from cocco.search.pricing.genomes import Pricer
from simulator.accelerator import Accelerator, Machine, MachineFields
from simulator.keywords import check_keywords
from simulator.model.subgraph.tiling import TileRule
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
    objectives: Sequence[str] | None = None,
    **question: Unpack[ToolboxFields],
) -> base.Toolbox:
    """Return a DEAP toolbox of Cocco's operators, each on single individuals, with nothing kept on chip.

    An individual has a `genome` and a `fitness`. The genome has `labels`, per layer a number that names its subgraph,
    and `capacities`, per buffer that is chosen the position among its candidates; operators exchange it, and so may
    yours. Registered are

    - `individual()`, `population(n=...)`: at random (Cocco, Sec. 4.4.1); `individual_from(partition, ...)`: from one
      partition per network, with a random memory or, last, the accelerator that is given as `memory=`;
    - `mate` (the paper's crossover, also `crossover`), `mutate` (one of the mutations by the shares in settings), and
      each by its name: `modify_node`, `split_subgraph`, `merge_subgraphs`, `shift_layers`, and where memory is chosen
      `mutate_capacity`. All leave valid partitions;
    - `repair(individual)`: makes a valid partition of any labels: connected parts, cycles cut open;
    - `evaluate(individual)`: repairs, prices, splits what does not fit (Sec. 4.4.4), and leaves in the individual the
      genome that was priced. So a loop with operators of your own never prices what is no partition;
    - `select`: a tournament, or NSGA-II where there are several objectives;
    - `decode(individual)`: the accelerator, and a tuple of one `Partition` per network.

    Parameters
    ----------
    networks
        One network, or several that run one after the other.
    memory
        An Accelerator (Formula 1), or a space of memories (Formula 2); by default the paper's shared buffer.
    seed
        Of all operators, and of the global `random`, from which DEAP's own draw.
    settings
        Shares of the mutations, size of the tournament, memos.
    objectives
        Two or more criteria of `cocco.pareto` in place of one cost: capacity, energy, ema, latency, area, bandwidth.
    **question
        metric, weights, tile_rule, and for a space alpha, machine, and fields of the machine by their names.

    Raises
    ------
    ValueError
        Names the argument, the rule and the value; from `evaluate`, `repair` and `decode` where a genome has another
        number of labels, labels that are no integers, or a position that is no candidate.

    Examples
    --------
    >>> import cocco.search, workloads
    >>> from deap import algorithms
    >>> box = cocco.search.toolbox(workloads.load("vgg16"), seed=1)
    >>> population, logbook = algorithms.eaSimple(box.population(n=20), box, 0.8, 0.5, ngen=5, verbose=False)
    >>> best = min(population, key=lambda individual: individual.fitness.values)
    >>> machine, (plan,) = box.decode(best)
    >>> plan.network_name, machine.is_shared
    ('vgg16', True)
    """
    from deap import base, tools  # here and not above: `import cocco` stays light

    check_keywords(toolbox, question, ToolboxFields.__optional_keys__)
    check_seed(seed)
    names = None if objectives is None else check_objectives(objectives)
    random.seed(seed)  # DEAP's own operators (selTournament, varAnd) draw from the global `random`; ours never do
    asked: dict[str, Any] = {**question}
    if isinstance(memory, Accelerator):
        problem = on_hardware(networks, memory, **asked)
    else:
        problem = over_space(networks, memory, **asked)
    settings = settings or Settings()
    tools_of = _Tools(problem, settings, seed, names)
    box = base.Toolbox()
    box.register("individual", tools_of.individual)
    box.register("population", tools.initRepeat, list, tools_of.individual)
    box.register("individual_from", tools_of.individual_from)
    box.register("mate", tools_of.mate)
    box.register("crossover", tools_of.mate)
    box.register("mutate", tools_of.mutate)
    for operator in (modify_node, split_subgraph, merge_subgraphs, shift_layers):
        box.register(operator.__name__, tools_of.changed, operator)
    if problem.buffers:
        box.register("mutate_capacity", tools_of.mutate_capacity)
    box.register("repair", tools_of.repair)
    if names is None:
        box.register("select", tools.selTournament, tournsize=settings.tournament)
    else:
        box.register("select", tools.selNSGA2)
    box.register("evaluate", tools_of.evaluate)
    box.register("decode", tools_of.decode)
    return box


class _Tools:
    """The operators of one toolbox; each call draws from a stream of its own."""

    def __init__(self, problem: Problem, settings: Settings, seed: int, objectives: tuple[str, ...] | None) -> None:
        from cocco.search.genetic.individual import fitness_of

        self.problem, self.breeder = problem, Breeder(problem, settings)
        self.plane = None if objectives is None else Plane(problem, objectives)
        metrics = (problem.objective.metric,) if objectives is None else metrics_of(objectives)
        self.pricers = {metric: self._pricer(metric, settings) for metric in metrics}
        self.fitness = fitness_of(1 if objectives is None else len(objectives))
        self.streams = (Stream(seed, 0, call) for call in count())

    def individual(self) -> Individual:
        """Return a random one."""
        return self._individual(self.breeder.founder((), 0, next(self.streams)))

    def individual_from(self, *partitions: Partition, memory: Accelerator | None = None) -> Individual:
        """Return the one of these partitions, one per network."""
        labels = self.problem.labels(partitions)
        capacities = self.breeder.founder([labels], 0, next(self.streams)).capacities
        if memory is not None:
            capacities = tuple(_position(name, sizes, memory) for name, sizes in self.problem.buffers.items())
        return self._individual(Genome(labels, capacities))

    def mate(self, first: Individual, second: Individual) -> tuple[Individual, Individual]:
        """Exchange both genomes for children of both."""
        parents = self._checked(first.genome), self._checked(second.genome)
        for child, (mother, father) in ((first, parents), (second, parents[::-1])):
            child.genome = self.breeder.repaired(crossover(self.problem, mother, father, next(self.streams)))
        return first, second

    def mutate(self, individual: Individual) -> tuple[Individual]:
        """Change the genome by one of the mutations."""
        genome = self._checked(individual.genome)
        individual.genome = self.breeder.repaired(self.breeder.mutate(genome, next(self.streams)))
        return (individual,)

    def changed(
        self, operator: Callable[[Problem, Genome, Stream], Genome], individual: Individual
    ) -> tuple[Individual]:
        """Change the genome by this mutation."""
        genome = operator(self.problem, self._checked(individual.genome), next(self.streams))
        individual.genome = self.breeder.repaired(genome)
        return (individual,)

    def mutate_capacity(self, individual: Individual) -> tuple[Individual]:
        """Move each capacity by a normal step."""
        genome = self._checked(individual.genome)
        individual.genome = mutate_capacity(self.problem, genome, self.breeder.deviation, next(self.streams))
        return (individual,)

    def repair(self, individual: Individual) -> tuple[Individual]:
        """Make a valid partition of the labels."""
        individual.genome = self._checked(individual.genome)
        return (individual,)

    def evaluate(self, individual: Individual) -> tuple[float, ...]:
        """Return the cost, or the objectives, of what is left in the individual: repaired, and split where needed."""
        first, *others = self.pricers.values()
        sample = first.evaluate(self._checked(individual.genome), next(self.streams))
        individual.genome = genome = sample.genome
        if self.plane is None:
            return (sample.cost,)
        values = [sample.value, *(pricer.evaluate(genome, next(self.streams)).value for pricer in others)]
        metrics: dict[str, np.ndarray] = {metric: np.array([value]) for metric, value in zip(self.pricers, values)}
        return tuple(self.plane.values(np.array([genome.capacities]), metrics)[0].tolist())

    def decode(self, individual: Individual) -> tuple[Accelerator, tuple[Partition, ...]]:
        """Return the accelerator, and the partition of each network."""
        genome = self._checked(individual.genome)
        return self.problem.accelerator_of(genome.capacities), self.problem.partitions(groups_of(genome.labels))

    def _individual(self, genome: Genome) -> Individual:
        from cocco.search.genetic.individual import Individual

        return Individual(genome, fitness=self.fitness)

    def _pricer(self, metric: Metric, settings: Settings) -> Pricer:
        objective = replace(self.problem.objective, metric=metric)
        chosen_by = self.problem.chosen_by if metric == self.problem.objective.metric else self.problem.metric
        problem = replace(self.problem, objective=objective, chosen_by=chosen_by)
        return Pricer(problem, settings.model_memo, settings.price_memo)

    def _checked(self, genome: object) -> Genome:
        return checked_genome(self.problem, genome)


def _position(name: str, sizes: Sequence[int], memory: Accelerator) -> int:
    size = getattr(memory, name)
    if size not in sizes:
        raise ValueError(f"memory has {name} of {size} bytes, which is no candidate (from {sizes[0]} to {sizes[-1]})")
    return sizes.index(size)
