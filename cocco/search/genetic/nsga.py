"""NSGA-II (Deb et al. 2002, by DEAP) with the operators and engines of the search (Cocco, Sec. 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from cocco.effort.effort import Progress
from cocco.effort.settings import Settings
from cocco.problem.dominance import front_of
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem
from cocco.search.genetic.cloud_snapshot import Parents, cloud_keeper
from cocco.search.genetic.engine import Engine, HalfGeneration
from cocco.search.genetic.population import Population
from cocco.search.pricing.samples import Rows

if TYPE_CHECKING:
    import pandas
    from deap import base

OF_FRONT = ("labels", "capacities", "values")


class Cloud:
    """Every sample of a search for a front: the numbers of all, the genomes of those on the front.

    engines: by metric; the first one breeds. wanted: samples in total. is_stopped: whether the user stopped the search.
    """

    def __init__(self, plane: Plane, engines: dict[str, Engine], wanted: int, progress: Progress | None = None) -> None:
        self.plane, self.engines, self.wanted, self.progress = plane, engines, wanted, progress
        self.is_stopped = False
        self.samples = self.generation = 0
        front = Population.empty(0, plane.problem.size, len(plane.problem.buffers))
        self.labels, self.capacities = front.labels, front.capacities
        self.values = np.zeros((0, len(plane.names)))
        number, few = np.zeros(0, np.int64), np.zeros(0, np.int32)
        sizes = np.zeros((0, len(plane.problem.buffers)), np.int32)
        self._rows = Rows({
            "number": number, "generation": few, "capacities": sizes, "subgraphs": few, "values": self.values
        })  # fmt: skip

    @property
    def left(self) -> int:
        """Number of samples still to be priced."""
        return self.wanted - self.samples

    @property
    def breeder(self) -> Engine:
        """The engine that makes generations."""
        return next(iter(self.engines.values()))

    def spend(self, samples: int) -> None:
        """Count work that leaves no sample behind."""
        self.samples += samples

    def price(self, labels: np.ndarray, capacities: np.ndarray) -> tuple[Population, np.ndarray]:
        """Return genomes after in-situ split, kept as samples, and their criteria."""
        priced = self.breeder.price(labels, capacities)
        return priced, self.add(priced)

    def add(self, priced: Population) -> np.ndarray:
        """Keep what the breeding engine priced as a generation, and return its criteria, a row per genome."""
        metrics = {
            metric: priced.value if engine is self.breeder else engine.price(priced.labels, priced.capacities).value
            for metric, engine in self.engines.items()
        }
        values = self.plane.values(priced.capacities, metrics)
        count, size = priced.labels.shape
        number = np.arange(self.samples + 1, self.samples + count + 1)
        subgraphs = (priced.labels == np.arange(size)).sum(axis=1)  # each subgraph has one first layer
        everything = np.concatenate([self.values, values])
        front = front_of(everything)
        labels, capacities = np.concatenate([self.labels, priced.labels]), priced.capacities
        capacities = np.concatenate([self.capacities, capacities])
        kept = capacities[len(self.values) :, : len(self.plane.problem.buffers)]
        generation = np.full(count, self.generation)
        # from here on all together: the user may stop the search anywhere
        self._rows.append(number, generation, kept, subgraphs, values)
        self.labels, self.capacities, self.values = labels[front], capacities[front], everything[front]
        self.samples, self.generation = self.samples + count, self.generation + 1
        if self.progress is not None:
            self.progress(self.samples, self.wanted, len(front))
        return values

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all samples and the front as plain data and arrays."""
        arrays = {f"samples_{name}": column for name, column in self._rows.columns.items()}
        arrays |= {f"front_{name}": getattr(self, name) for name in OF_FRONT}
        return {"samples": self.samples, "generation": self.generation}, arrays

    def restore(self, plain: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Become the cloud with this state."""
        for name in OF_FRONT:
            setattr(self, name, arrays[f"front_{name}"])
        self._rows = Rows({name: arrays[f"samples_{name}"] for name in self._rows.columns})
        self.samples, self.generation = plain["samples"], plain["generation"]

    def points(self) -> pandas.DataFrame:
        """Return one row per sample, in order: its number, generation, bytes of the buffers, subgraphs, criteria."""
        import pandas

        from cocco.problem.criteria import CRITERIA

        number, generation, capacities, subgraphs, values = self._rows.columns.values()
        columns = {"sample": number, "generation": generation}
        for i, (name, sizes) in enumerate(self.plane.problem.buffers.items()):
            columns[f"{name}_bytes"] = np.array(sizes)[capacities[:, i]]
        columns["subgraphs"] = subgraphs
        for i, name in enumerate(self.plane.names):
            columns[CRITERIA[name].column] = values[:, i].astype(np.int64) if name == "capacity" else values[:, i]
        return pandas.DataFrame(columns)


class Ranked:
    """A row of a population with a fitness, for DEAP's tools."""

    def __init__(self, row: int, fitness: base.Fitness) -> None:
        self.row, self.fitness = row, fitness


def nsga(
    cloud: Cloud,
    problem: Problem,
    until: int,
    seed: int,
    settings: Settings,
    start: tuple[Population, np.ndarray],
    initial: Sequence[Sequence[int]] = (),
) -> None:
    """Breed generations into the cloud until it has so many samples: select, cross, mutate, repair, evaluate.

    start: genomes that join the first generation, with their criteria. initial: labels that it is made of, in addition
    to random ones, if start has fewer than two genomes.
    A parent wins tournaments by its front, then by its crowding distance: the engine's tournament takes the parent
    that stands first, and they stand in that order.
    """
    initial = list(initial)[: settings.population]
    keeper = cloud_keeper(problem, cloud.plane.names, (until, cloud.wanted), seed, settings, start[0], initial)
    at = keeper.find(cloud, Parents(*start, len(initial) > 0))
    while cloud.samples < until:
        count, parents = min(settings.population, until - cloud.samples), at.population
        founding = at.is_first or not len(parents.cost)
        origin = parents.rows(0, 0) if founding else parents
        try:
            children = cloud.breeder.breed(seed, cloud.generation, origin, initial if founding else (), count)
        except HalfGeneration as stop:
            if len(stop.children.cost):
                cloud.add(stop.children)
            raise
        everybody, everything = parents.joined(children), np.concatenate([at.values, cloud.add(children)])
        order = survivors(everything, settings.population)
        parents = Population(*(np.ascontiguousarray(array[order]) for array in everybody))
        at = Parents(parents, everything[order], False)
        keeper.keep(cloud, at)


def survivors(values: np.ndarray, count: int) -> list[int]:
    """Return at most so many rows that NSGA-II keeps, by their front and within it by crowding distance.

    Of equal rows the first stays (our choice: memories are discrete, and copies would fill the population).
    """
    from deap import tools  # here, as below, so that `import cocco` stays light

    fitness = _fitness(values.shape[1])
    rows = np.sort(np.unique(values, axis=0, return_index=True)[1])
    pool = [Ranked(row, fitness(values[row].tolist())) for row in rows.tolist()]
    chosen = tools.selNSGA2(pool, count, nd="log")
    fronts = tools.sortLogNondominated(chosen, len(chosen))
    crowding = attrgetter("fitness.crowding_dist")
    return [each.row for front in fronts for each in sorted(front, key=crowding, reverse=True)]


def _fitness(count: int) -> type[base.Fitness]:
    """Return DEAP's fitness for so many values to be minimized."""
    from deap import base

    return type("FrontFitness", (base.Fitness,), {"weights": (-1.0,) * count})
