"""Machines in the genome: a gene for each axis beside capacities and partition, bred and priced machine by machine.

A gene is a position among the values of its axis. It mutates as a capacity does (mutation-DSE; Cocco, Sec. 4.4.3): by a
normal step where the values have an order, to another value where they have none (kinds of DRAM, tables of SRAM). The
children of a generation that share a machine are bred and priced together by the engine of that machine, which is made
when the first of them is: so partitions pass from machine to machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cocco.candidates.rounding import SAME
from cocco.candidates.stream import GENES, ONE, STEP_BITS, Stream, threshold
from cocco.chips.axes import Chip, Value
from cocco.chips.classes import Asked
from cocco.chips.question import METRICS, ChipQuestion
from cocco.effort.settings import Settings
from cocco.exploration.memories.front import of_value
from cocco.problem.names import EngineName, Metric
from cocco.problem.problem import Problem, in_memory, part_of
from cocco.search.genetic.engine import Engine, HalfGeneration, make_engine
from cocco.search.genetic.generations import Generations
from cocco.search.genetic.population import Population
from simulator.accelerator import Accelerator

MOVED = threshold(0.2)  #: share of children that are a parent on another machine; our choice, with the next three
FIRST = 16  #: machines of the first generation of a population, so that each has several partitions
TRIES = 4  #: mutations tried until a machine that can be built is found
ENGINES = 128  #: kept; of ResNet50 each takes 2.5 MB and 40 ms to make
BROKEN = 1e100  #: cost of what breaks a limit, times the factor by which it does: whatever keeps all costs less


class Genes:
    """The machines of a product as genes."""

    def __init__(self, chips: Sequence[Chip]) -> None:
        values = [list(dict.fromkeys(chip.axes[name] for chip in chips)) for name in chips[0].axes]
        self.is_ordered = [not isinstance(each[0], str) for each in values]
        self.values = [sorted(each, key=_size) if known else each for each, known in zip(values, self.is_ordered)]
        self.of = [tuple(own.index(value) for own, value in zip(self.values, chip.axes.values())) for chip in chips]
        self.chip = {genes: i for i, genes in enumerate(self.of)}
        self.moving = [i for i, own in enumerate(self.values) if len(own) > 1]

    def crossed(self, mother: int, father: int, stream: Stream) -> int:
        """Return a machine between two: of each axis the mean of both, or one of them; the mother if there is none."""
        child = tuple([
            a + b + stream.chance(ONE // 2) >> 1 if known else (a, b)[stream.chance(ONE // 2)]
            for a, b, known in zip(self.of[mother], self.of[father], self.is_ordered)
        ])  # fmt: skip
        return self.chip.get(child, mother)

    def moved(self, chip: int, stream: Stream) -> int:
        """Return a machine that differs along one axis; the same one if none that was tried can be built."""
        for _ in range(TRIES if self.moving else 0):
            genes, i = list(self.of[chip]), self.moving[stream.below(len(self.moving))]
            last = len(self.values[i]) - 1
            if self.is_ordered[i]:
                step = stream.normal_step(1 << STEP_BITS) or (1, -1)[stream.chance(ONE // 2)]
                genes[i] = min(max(genes[i] + step, 0), last)
            else:
                genes[i] = (genes[i] + 1 + stream.below(last)) % (last + 1)
            found = self.chip.get(tuple(genes), chip)
            if found != chip:
                return found
        return chip


class Machines:
    """The engine of all machines: a genome has the position of its machine behind its capacities.

    Capacities are positions among the sizes that any machine may have; a machine takes the nearest that it has. metric:
    in which values are, by default that of the question.
    """

    def __init__(
        self, question: ChipQuestion, asked: Asked, chips: Sequence[Chip], settings: Settings,
        metric: Metric | None = None,
    ) -> None:  # fmt: skip
        self.question, self.asked, self.chips, self.settings, self.metric = question, asked, chips, settings, metric
        self.name: EngineName = asked.engine
        self.genes = Genes(chips)
        self.sizes = {
            name: tuple(sorted({size for chip in chips for size in chip.buffers[name]})) for name in chips[0].buffers
        }
        first = asked.problem(chips[0].machine, chips[0].buffers)
        self.problem = replace(first, buffers=self.sizes | {"machine": tuple(range(len(chips)))})
        self.crossing = threshold(settings.crossover)
        self._problems: dict[int, Problem] = {}
        self._engines: dict[tuple[int, Metric | None, int | None], Engine] = {}
        self._accelerators: dict[tuple[int, ...], Accelerator] = {}

    def breed(
        self, seed: int, generation: int, parents: Population, initial: Sequence[Sequence[int]], count: int
    ) -> Population:
        """Return so many priced children of parents sorted by cost, or founders if there are no parents."""
        own = Stream(seed, GENES, 0).draw()
        children, done = Population.empty(count, self.problem.size, len(self.problem.buffers)), list[int]()
        bred, moved = dict[int, list[int]](), dict[int, list[tuple[int, int]]]()
        first = Stream(own, generation, count)
        some = [first.below(len(self.chips)) for _ in range(FIRST)]
        for child in range(count):
            stream = Stream(own, generation, child)
            chip, parent = some[child % FIRST], -1
            if len(parents.cost):
                chip, parent = self._drawn(parents, stream)
            if parent < 0:
                bred.setdefault(chip, []).append(child)
            else:
                moved.setdefault(chip, []).append((child, parent))
        try:
            for chip in sorted({*bred, *moved}):
                if chip in bred:
                    each = Stream(seed, GENES, 1 + chip).draw(), generation, self._there(chip, parents), initial
                    made = self._engine(chip).breed(*each, len(bred[chip]))
                    done += self._put(children, bred[chip], chip, made)
                if chip in moved:
                    to, rows = map(list, zip(*moved[chip]))
                    there = self._there(chip, Population(*(array[rows] for array in parents)))
                    made = self._engine(chip).price(there.labels, there.capacities)
                    done += self._put(children, to, chip, made)
        except KeyboardInterrupt:
            raise HalfGeneration(Population(*(array[sorted(done)] for array in children))) from None
        return children

    def evolve(
        self, seed: int, generation: int, population: Population, most: int, stale: int, least: float
    ) -> Generations | None:
        """Return None: generations are made one by one."""
        return None

    def price(self, labels: np.ndarray, capacities: np.ndarray) -> Population:
        """Return genomes, priced on their machines."""
        nothing = np.zeros(len(labels))
        given = Population(labels, capacities, nothing, nothing)
        priced, column = Population.empty(len(labels), self.problem.size, len(self.problem.buffers)), len(self.sizes)
        for chip in np.unique(capacities[:, column]).tolist():
            rows = np.flatnonzero(capacities[:, column] == chip).tolist()
            there = self._there(chip, Population(*(array[rows] for array in given)))
            self._put(priced, rows, chip, self._engine(chip).price(there.labels, there.capacities))
        return priced

    def accelerator(self, capacities: Sequence[int]) -> Accelerator:
        """Return the accelerator of these positions, the machine's behind those of its buffers."""
        key = tuple(capacities[: len(self.problem.buffers)])
        if key not in self._accelerators:
            *positions, chip = key
            sizes = {name: each[at] for (name, each), at in zip(self.sizes.items(), positions)}
            self._accelerators[key] = self.chips[chip].machine.with_buffers(**sizes)
        return self._accelerators[key]

    def given(self, capacities: Sequence[int]) -> Problem:
        """Return the problem on the hardware of these positions."""
        *positions, chip = capacities[: len(self.problem.buffers)]
        sizes = zip(self.sizes.values(), self.chips[chip].buffers.values(), positions)
        return in_memory(self._on(chip), [_nearest(every, own)[at] for every, own, at in sizes])

    def _drawn(self, parents: Population, stream: Stream) -> tuple[int, int]:
        """Return the machine of a child, and the parent that it is on that machine; -1: it has another partition."""
        column = parents.capacities[:, len(self.sizes)]
        mother, father = (min([stream.below(len(column)) for _ in range(self.settings.tournament)]) for _ in range(2))
        chip = int(column[mother])
        if stream.chance(MOVED):
            found = self.genes.moved(chip, stream)
            return found, mother if found != chip else -1
        if stream.chance(self.crossing):
            return self.genes.crossed(chip, int(column[father]), stream), -1
        return chip, -1

    def _there(self, chip: int, population: Population) -> Population:
        """Return a population with capacities as one machine has them."""
        capacities = np.zeros((len(population.cost), 2), np.int64)
        for i, (name, sizes) in enumerate(self.sizes.items()):
            nearest = _nearest(sizes, self.chips[chip].buffers[name])
            capacities[:, i] = nearest[population.capacities[:, i]]
        labels = np.ascontiguousarray(population.labels)
        return population._replace(labels=labels, capacities=capacities)

    def _put(self, into: Population, rows: Sequence[int], chip: int, made: Population) -> Sequence[int]:
        """Write what a machine's engine made into these rows, with the cost of the question; return the rows."""
        for i, (name, sizes) in enumerate(self.sizes.items()):
            place = np.array([sizes.index(size) for size in self.chips[chip].buffers[name]])
            into.capacities[rows, i] = place[made.capacities[:, i]]
        into.capacities[rows, len(self.sizes)] = chip
        into.labels[rows], into.value[rows] = made.labels, made.value
        if self.metric is None:
            into.cost[rows] = self._costs(chip, made, into.capacities[rows])
        return rows

    def _costs(self, chip: int, made: Population, capacities: np.ndarray) -> list[float]:
        """Return what is minimized; of what breaks a limit, more than of all that breaks none."""
        question, found = self.question, list[float]()
        metrics = {name: METRICS[name] for name in question.limited}
        by_network = {name: self._by_network(chip, made, metric) for name, metric in metrics.items()}
        for row, (value, positions) in enumerate(zip(made.value.tolist(), capacities.tolist())):
            accelerator = self.accelerator(positions)
            cost = question.fixed(accelerator) + question.scale(accelerator) * value
            values = {name: [each[row] for each in columns] for name, columns in by_network.items()}
            factor, _ = question.excess(accelerator, values, value)
            found.append(cost if factor <= 1 + SAME else BROKEN * factor)
        return found

    def _by_network(self, chip: int, made: Population, metric: Metric) -> list[list[float]]:
        """Return a metric of each network by itself."""
        problem, found = self._on(chip), []
        for i, (low, high) in enumerate(zip(problem.offsets, problem.offsets[1:])):
            labels = np.ascontiguousarray(made.labels[:, low:high]) - low
            found.append(self._engine(chip, metric, i).price(labels, made.capacities).value.tolist())
        return found

    def _on(self, chip: int) -> Problem:
        """Return the problem of a machine."""
        if chip not in self._problems:
            machine = self.question.judging(self.chips[chip].machine)
            self._problems[chip] = self.asked.problem(machine, self.chips[chip].buffers)
        return self._problems[chip]

    def _engine(self, chip: int, metric: Metric | None = None, network: int | None = None) -> Engine:
        """Return the engine of a machine, in a metric other than that of the question, of one network alone."""
        key = chip, metric, network
        found = self._engines.pop(key, None)
        if found is None:
            problem = self._on(chip)
            if network is not None:
                problem = part_of(problem, network)
                problem = replace(problem, objective=replace(problem.objective, weights=(1.0,)))
            wanted = metric or self.metric
            if wanted is not None:
                problem = of_value(problem, wanted)
            found = make_engine(self.asked.engine, problem, self.settings)
            if len(self._engines) == ENGINES:
                del self._engines[next(iter(self._engines))]
        self._engines[key] = found  # the last one used stands last
        return found


def _nearest(sizes: Sequence[int], own: Sequence[int]) -> np.ndarray:
    """Return, for each of all sizes, the position of the nearest that a machine has."""
    found: np.ndarray = np.abs(np.array(sizes)[:, None] - np.array(own)).argmin(axis=1)
    return found


def _size(value: Value) -> float:
    if isinstance(value, tuple):
        return value[0] * value[1]
    return float(value)
