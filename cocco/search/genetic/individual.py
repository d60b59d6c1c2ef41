"""Individual: a genome with a fitness, for DEAP's tools at the boundary of the search."""

from __future__ import annotations

from functools import lru_cache

from deap import base

from cocco.candidates.genome import Genome


class CostFitness(base.Fitness):
    """The cost, to be made small. A class of our own: deap.creator would put one into its module's globals."""

    weights: tuple[float, ...] = (-1.0,)


class PairFitness(CostFitness):
    """Two objectives, both to be made small."""

    weights = (-1.0,) * 2


class TripleFitness(CostFitness):
    """Three objectives, all to be made small."""

    weights = (-1.0,) * 3


@lru_cache
def fitness_of(count: int) -> type[CostFitness]:
    """Return the fitness of so many things that should be small; classes with a name can be sent to other processes."""
    known = {1: CostFitness, 2: PairFitness, 3: TripleFitness}
    return known.get(count) or type(f"Fitness{count}", (CostFitness,), {"weights": (-1.0,) * count})


class Individual:
    """A genome and its fitness; `mate`, `mutate` and `evaluate` of the toolbox exchange the genome."""

    def __init__(self, genome: Genome, cost: float | None = None, fitness: type[CostFitness] = CostFitness) -> None:
        self.genome = genome
        self.fitness = fitness(() if cost is None else (cost,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Individual) and self.genome == other.genome

    __hash__ = None  # type: ignore[assignment]  # the genome may be exchanged
