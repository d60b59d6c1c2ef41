"""Individual: a genome with a fitness, for DEAP's tools at the boundary of the search."""

from __future__ import annotations

from deap import base

from cocco.problem.genome import Genome


class CostFitness(base.Fitness):
    """The cost, to be made small. A class of our own: deap.creator would put one into its module's globals."""

    weights = (-1.0,)


class Individual:
    """A genome and its fitness; `mate`, `mutate` and `evaluate` of the toolbox exchange the genome."""

    def __init__(self, genome: Genome, cost: float | None = None) -> None:
        self.genome = genome
        self.fitness = CostFitness(() if cost is None else (cost,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Individual) and self.genome == other.genome

    __hash__ = None  # type: ignore[assignment]  # the genome may be exchanged
