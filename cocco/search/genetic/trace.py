"""Trace: what a search did. Every sample in arrays, statistics per generation in DEAP's logbook, the best genome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from deap import tools

from cocco.candidates.genome import Genome
from cocco.effort.effort import Progress
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.genetic.generations import Generations, of_one
from cocco.search.genetic.individual import Individual
from cocco.search.genetic.population import Population
from cocco.search.pricing.genomes import Sample

if TYPE_CHECKING:
    import pandas


COLUMNS = ("number", "generation", "capacities", "subgraphs", "value", "cost")  #: what is kept of a sample


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
        self.hall = tools.HallOfFame(1)
        self.logbook = tools.Logbook()
        self._open: list[Sample] = []
        self._closed = 0
        self._columns: list[tuple[np.ndarray, ...]] = []

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
        return self.hall[0].sample

    def spend(self, samples: int) -> None:
        """Count work that leaves no sample behind, such as that of founders."""
        self._closed += samples

    def add(self, sample: Sample) -> None:
        """Keep a sample of the generation that is open."""
        self._open.append(sample)

    def offer(self, sample: Sample) -> None:
        """Take a genome that is not a sample of this search as the best, if it is cheaper."""
        if sample.cost < self.best.cost:
            self.hall.update([Champion(sample)])

    def close(self) -> None:
        """End the generation of the samples since the last one."""
        added, self._open = self._open, []
        priced = Population.of(added, self.problem.size)
        self.record(priced, priced)

    def record(self, added: Population, population: Population) -> None:
        """Keep a generation: the samples priced, and the population of these and the previous elite."""
        first = int(added.cost.argmin())
        is_better = not len(self.hall) or added.cost[first] < self.best.cost
        best = added.sample(first, len(self.problem.buffers)) if is_better else None
        self.record_all(of_one(added, population, best))

    def record_all(self, generations: Generations) -> None:
        """Keep generations of the same size; their statistics are looked at together, as that takes least."""
        made, costs = generations.made, generations.costs
        number, each = len(self.logbook), len(made.cost) // len(costs)
        least = np.minimum.accumulate(made.cost.reshape(len(costs), each).min(axis=1))
        if len(self.hall):
            least = np.minimum(least, self.best.cost)
        with np.errstate(invalid="ignore"):  # of costs that are infinite there is no deviation
            deviations = costs.std(axis=1)
        rows = zip(costs.min(axis=1), costs.mean(axis=1), deviations, generations.distinct.tolist(), least)
        generation = np.repeat(np.arange(number, number + len(costs), dtype=np.int32), each)
        samples = np.arange(self._closed + 1, self._closed + len(made.cost) + 1)
        capacities = made.capacities[:, : len(self.problem.buffers)]
        if generations.best is not None:  # from here on all together: the user may stop the search anywhere
            self.hall.update([Champion(generations.best)])
        for i, (low, mean, deviation, distinct, best) in enumerate(rows):
            self.logbook.record(
                generation=number + i, samples=self._closed + (i + 1) * each, best_cost=best, min_cost=low,
                mean_cost=mean, std_cost=deviation, distinct=distinct,
            )  # fmt: skip
        self._closed += len(made.cost)
        self._columns.append((samples, generation, capacities, made.subgraphs, made.value, made.cost))
        if self.progress is not None:
            self.progress(self._closed, self.wanted, self.best.cost)

    def follow(self, later: Trace) -> None:
        """Take over the generations of a search that came after this one, numbered on."""
        before, generations = self._closed, len(self.logbook)
        best = self.best.cost if len(self.hall) else math.inf
        for number, generation, *rest in later._columns:
            self._columns.append((number + before, generation + generations, *rest))
        for record in later.logbook:
            samples, cost = record["samples"] + before, min(record["best_cost"], best)
            number = record["generation"] + generations
            self.logbook.record(**record | {"generation": number, "samples": samples, "best_cost": cost})
        self.hall.update(later.hall)
        self._closed += later.samples
        self.is_stopped = later.is_stopped

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all of a trace whose generations are closed, as plain data and arrays."""
        best = self.best
        plain = {
            "samples": self._closed, "logbook": [_plain(record) for record in self.logbook],
            "best": [best.genome.labels, list(best.genome.capacities), best.value, best.cost],
        }  # fmt: skip
        joined = [np.concatenate(column) for column in zip(*self._columns)]
        return plain, {f"samples_{name}": column for name, column in zip(COLUMNS, joined)}

    def restore(self, plain: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Become the trace with this state."""
        labels, capacities, value, cost = plain["best"]
        self.hall.update([Champion(Sample(Genome(labels, tuple(capacities)), value, cost))])
        self._columns = [tuple(arrays[f"samples_{name}"] for name in COLUMNS)]
        for record in plain["logbook"]:
            self.logbook.record(**record)
        self._closed = plain["samples"]

    def stop(self) -> None:
        """End the search here; samples of the open generation count."""
        self.is_stopped = True
        if self._open:
            self.close()

    def history(self) -> pandas.DataFrame:
        """Return one row per generation; costs are those of the generation, its elite included."""
        import pandas

        return pandas.DataFrame(list(self.logbook))

    def points(self) -> pandas.DataFrame:
        """Return one row per genome, in order, with its number among the samples.

        Bytes of one core, subgraphs in all networks; `value` is Formula 1.
        """
        import pandas

        parts = dict(zip(COLUMNS, zip(*self._columns)))
        joined = {name: np.concatenate(parts[name]) for name in COLUMNS if name != "capacities"}
        machine, buffers = self.problem.accelerator, self.problem.buffers
        names = ("shared_buffer",) if machine.is_shared else ("global_buffer", "weight_buffer")
        columns = {"sample": joined["number"], "generation": joined["generation"]}
        for i, name in enumerate(names):
            sizes = np.full(len(joined["cost"]), getattr(machine, name))
            if buffers:
                sizes = np.array(buffers[name])[np.concatenate([each[:, i] for each in parts["capacities"]])]
            columns[f"{name}_bytes"] = sizes
        columns |= {name: joined[name] for name in ("subgraphs", "value", "cost")}
        columns["best_cost"] = np.minimum.accumulate(joined["cost"])
        return pandas.DataFrame(columns, copy=False)  # there may be millions


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the numbers of numpy as those of Python."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in record.items()}


class Champion(Individual):
    """The individual of a sample, in the form that the hall of fame keeps."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample.genome, sample.cost)
        self.sample = sample
