"""Generations: the result of many generations of one population, which the compiled engine makes in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cocco.candidates.genome import Genome
from cocco.effort.settings import Settings
from cocco.search.genetic.population import BUFFERS, Population
from cocco.search.kernel.compiled import Compiled
from cocco.search.pricing.genomes import Sample


class Made(NamedTuple):
    """Row i is the i-th child: positions of its capacities, its subgraphs, Formula 1, and the cost."""

    capacities: np.ndarray
    subgraphs: np.ndarray
    value: np.ndarray
    cost: np.ndarray


class Generations(NamedTuple):
    """The children of all generations in order, the last population, and statistics of each.

    costs: a row for each generation, of its population, the elite first; distinct: how many of its genomes differ.
    stale: generations without improvement. best: the child that costs less than all samples before, if there is one.
    """

    made: Made
    costs: np.ndarray
    distinct: np.ndarray
    population: Population
    stale: int
    best: Sample | None


def of_one(children: Population, population: Population, best: Sample | None) -> Generations:
    """Return the generation of these children; its population is the children plus the previous elite."""
    firsts = children.labels == np.arange(children.labels.shape[1])  # each subgraph has one first layer
    made = Made(
        children.capacities.astype(np.int32), firsts.sum(axis=1, dtype=np.int32), children.value.copy(),
        children.cost.copy(),
    )  # fmt: skip
    return Generations(made, population.cost[None], np.array([population.distinct]), population, 0, best)


def evolved(
    compiled: Compiled, settings: Settings, seed: int, generation: int, population: Population, most: int, stale: int,
    least: float,
) -> Generations | None:  # fmt: skip
    """Return up to so many generations of a whole population; None if 64 bits are too few for the first."""
    size, elite = len(population.cost), settings.elite
    count, layers = most * (size - elite), population.labels.shape[1]
    made = Made(
        np.empty((count, BUFFERS), np.int32), np.empty(count, np.int32), np.empty(count), np.empty(count)
    )  # fmt: skip
    costs, distinct, labels = np.empty((most, size)), np.empty(most, np.int64), np.empty((1, layers), np.int64)
    last = Population(*(array.copy() for array in population))
    done, stale, best = compiled.evolve(
        seed, generation, elite, most, stale, settings.patience, *last, least, labels,
        made.capacities, made.value, made.cost, made.subgraphs, costs, distinct,
    )  # fmt: skip
    if not done:
        return None
    made = Made(*(array[: done * (size - elite)] for array in made))
    winner = None
    if best >= 0:
        memory = tuple(made.capacities[best, : len(compiled.problem.buffers)].tolist())
        winner = Sample(Genome(labels[0].tolist(), memory), float(made.value[best]), float(made.cost[best]))
    return Generations(made, costs[:done], distinct[:done], last, stale, winner)
