"""Trace: what a search did. Every sample and the statistics of every generation in arrays, and the best genome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cocco.candidates.genome import Genome
from cocco.effort.effort import Progress
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.genetic.generations import Generations, of_one
from cocco.search.genetic.population import Population
from cocco.search.pricing.genomes import Sample
from cocco.search.pricing.samples import Rows, Seen

#: what is kept of a sample, besides the positions of its capacities, and of a generation
SAMPLE = {"number": np.int64, "generation": np.int32, "subgraphs": np.int32, "value": np.float64, "cost": np.float64}
GENERATION = {"generation": np.int64, "samples": np.int64} | dict.fromkeys(
    ("best_cost", "min_cost", "mean_cost", "std_cost"), np.float64
) | {"distinct": np.int64}  # fmt: skip


class Trace:
    """Keeps the samples of a search in the order in which they were priced.

    wanted: samples in total. progress: called after generations. is_stopped: whether the user ended the search.
    """

    def __init__(
        self, problem: Problem, wanted: int, progress: Progress | None = None, engine: EngineName = "reference"
    ) -> None:
        self.problem = problem
        self.wanted = wanted
        self.progress = progress
        self.engine = engine
        self.is_stopped = False
        self._best: Sample | None = None
        self._open: list[Sample] = []
        self._closed = 0
        none = {name: np.empty(0, kind) for name, kind in SAMPLE.items()}
        self._rows = Rows(none | {"capacities": np.empty((0, len(problem.buffers)), np.int32)})
        self._generations = Rows({name: np.empty(0, kind) for name, kind in GENERATION.items()})

    @property
    def samples(self) -> int:
        """Genomes priced so far, and other work counted as such."""
        return self._closed + len(self._open)

    @property
    def left(self) -> int:
        """Number of samples still to be priced."""
        return self.wanted - self.samples

    @property
    def best(self) -> Sample:
        """The cheapest sample; of equally cheap ones the first."""
        assert self._best is not None
        return self._best

    @property
    def least(self) -> float:
        """The cost of the best, inf before the first sample."""
        return math.inf if self._best is None else self._best.cost

    def spend(self, samples: int) -> None:
        """Count work that leaves no sample behind, such as that of founders."""
        self._closed += samples

    def add(self, sample: Sample) -> None:
        """Keep a sample of the generation that is open."""
        self._open.append(sample)

    def offer(self, sample: Sample) -> None:
        """Take a genome, which may be no sample of this search, as the best, if it is the first or cheaper."""
        if self._best is None or sample.cost < self._best.cost:
            self._best = sample

    def close(self) -> None:
        """End the generation of the samples since the last one."""
        added, self._open = self._open, []
        priced = Population.of(added, self.problem.size)
        self.record(priced, priced)

    def record(self, added: Population, population: Population) -> None:
        """Keep a generation: the samples priced, and the population of these and the previous elite."""
        first = int(added.cost.argmin())
        is_better = self._best is None or added.cost[first] < self._best.cost
        best = added.sample(first, len(self.problem.buffers)) if is_better else None
        self.record_all(of_one(added, population, best))

    def record_all(self, generations: Generations) -> None:
        """Keep generations of the same size; their statistics are looked at together, as that takes least."""
        made, costs = generations.made, generations.costs
        first, each = self._generations.count, len(made.cost) // len(costs)
        least = np.minimum.accumulate(made.cost.reshape(len(costs), each).min(axis=1))
        least = np.minimum(least, self.least)
        with np.errstate(invalid="ignore"):  # of costs that are infinite there is no deviation
            deviations = costs.std(axis=1)
        numbers = np.arange(first, first + len(costs))
        samples = np.arange(self._closed + 1, self._closed + len(made.cost) + 1)
        capacities = made.capacities[:, : len(self.problem.buffers)]
        if generations.best is not None:  # from here on all together: the user may stop the search anywhere
            self.offer(generations.best)
        self._rows.append(samples, np.repeat(numbers, each), made.subgraphs, made.value, made.cost, capacities)
        self._generations.append(
            numbers, samples[each - 1 :: each], least, costs.min(axis=1), costs.mean(axis=1), deviations,
            generations.distinct,
        )  # fmt: skip
        self._closed += len(made.cost)
        if self.progress is not None:
            self.progress(self._closed, self.wanted, self.best.cost)

    def follow(self, later: Trace) -> None:
        """Take over the generations of a search that came after this one, numbered on."""
        before, generations = self._closed, self._generations.count
        rows, told = later._rows.columns, later._generations.columns
        rows |= {"number": rows["number"] + before, "generation": rows["generation"] + generations}
        told |= {"generation": told["generation"] + generations, "samples": told["samples"] + before}
        told["best_cost"] = np.minimum(told["best_cost"], self.least)
        self._rows.append(*rows.values())
        self._generations.append(*told.values())
        if later._best is not None:
            self.offer(later._best)
        self._closed += later.samples
        self.is_stopped = later.is_stopped

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all of a trace whose generations are closed, as plain data and arrays."""
        best = self.best
        plain = {
            "samples": self._closed,
            "best": [best.genome.labels, list(best.genome.capacities), best.value, best.cost],
        }  # fmt: skip
        kept = {"samples": self._rows, "generations": self._generations}
        return plain, {f"{what}_{name}": column for what, rows in kept.items() for name, column in rows.columns.items()}

    def restore(self, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Become the trace with this state."""
        labels, capacities, value, cost = plain["best"]
        self.offer(Sample(Genome(labels, tuple(capacities)), value, cost))
        self._rows = Rows({name: arrays[f"samples_{name}"] for name in self._rows.columns})
        self._generations = Rows({name: arrays[f"generations_{name}"] for name in self._generations.columns})
        self._closed = plain["samples"]

    def stop(self) -> None:
        """End the search here; samples of the open generation count."""
        self.is_stopped = True
        if self._open:
            self.close()

    def seen(self) -> Seen:
        """Return all samples and generations so far."""
        return Seen(
            self._rows.columns, self._generations.columns, self.problem.accelerator, self.problem.buffers
        )  # fmt: skip
