"""Population: genomes and their costs side by side in arrays, so that an engine of any kind can fill them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cocco.candidates.genome import Genome
from cocco.effort.work_units import stored
from cocco.search.pricing.genomes import Sample

BUFFERS = 2  #: columns for capacities, at least; those that a problem does not choose hold 0


@stored
class Population(NamedTuple):
    """Row i of each array is genome i: labels (int64), positions of its capacities, Formula 1, and the cost."""

    labels: np.ndarray
    capacities: np.ndarray
    value: np.ndarray
    cost: np.ndarray

    @classmethod
    def empty(cls, count: int, layers: int, buffers: int = BUFFERS) -> Population:
        """Return a population with so many rows of zeros, to be filled."""
        labels, capacities = np.zeros((count, layers), np.int64), np.zeros((count, max(BUFFERS, buffers)), np.int64)
        return cls(labels, capacities, np.zeros(count), np.zeros(count))

    @classmethod
    def of(cls, samples: Sequence[Sample], layers: int) -> Population:
        """Return these samples as rows."""
        population = cls.empty(len(samples), layers)
        for i, sample in enumerate(samples):
            population.put(i, sample)
        return population

    def put(self, row: int, sample: Sample) -> None:
        """Write a sample into a row."""
        self.labels[row] = sample.genome.labels
        self.capacities[row, : len(sample.genome.capacities)] = sample.genome.capacities
        self.value[row], self.cost[row] = sample.value, sample.cost

    def sample(self, row: int, buffers: int) -> Sample:
        """Return a row as a sample of a problem that chooses so many buffers."""
        genome = Genome(self.labels[row].tolist(), tuple(self.capacities[row, :buffers].tolist()))
        return Sample(genome, float(self.value[row]), float(self.cost[row]))

    def rows(self, start: int, stop: int) -> Population:
        """Return some rows, sharing their memory."""
        return Population(*(array[start:stop] for array in self))

    def by_cost(self) -> Population:
        """Return the rows sorted by cost; ties stay in their order."""
        order = np.argsort(self.cost, kind="stable")
        return Population(*(np.ascontiguousarray(array[order]) for array in self))

    def joined(self, other: Population) -> Population:
        """Return the rows of both."""
        return Population(*(np.concatenate(pair) for pair in zip(self, other)))

    @property
    def distinct(self) -> int:
        """How many of the genomes differ."""
        rows = np.concatenate((self.labels, self.capacities), axis=1, dtype=np.int32, casting="same_kind")
        return len(set(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel().tolist()))
