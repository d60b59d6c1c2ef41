"""Two engines that make and price a generation: plain Python, and its compiled twin. They answer the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from cocco.candidates.genome import Genome
from cocco.candidates.stream import Stream
from cocco.effort.settings import Settings
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.genetic.generations import Generations, evolved
from cocco.search.genetic.operators.breeder import Breeder
from cocco.search.genetic.population import Population
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.genomes import Pricer

CALL = 2**17  #: layers of the children of one call; our choice: Ctrl-C waits for it, and Python takes little between


class HalfGeneration(KeyboardInterrupt):
    """The user stopped in the middle of a generation; `children` are those made so far."""

    def __init__(self, children: Population) -> None:
        super().__init__()
        self.children = children


class Engine(Protocol):
    """Makes generations of one problem."""

    name: EngineName

    def breed(
        self, seed: int, generation: int, parents: Population, initial: Sequence[Sequence[int]], count: int
    ) -> Population:
        """Return so many priced children of parents sorted by cost, or founders if there are no parents.

        Raises HalfGeneration with the children made so far if the user stops it.
        """
        ...

    def evolve(
        self, seed: int, generation: int, population: Population, most: int, stale: int, least: float
    ) -> Generations | None:
        """Return up to so many generations of a whole population at once; None if they are made one by one.

        stale: generations without improvement; they end with the patience of the settings. least: cost of the best
        sample before.
        """
        ...

    def price(self, labels: np.ndarray, capacities: np.ndarray) -> Population:
        """Return these valid genomes, priced; subgraphs that do not fit are split, by the stream of the row."""
        ...


def make_engine(name: EngineName | None, problem: Problem, settings: Settings, threads: int = 1) -> Engine:
    """Return the engine by its name (see engine_name); user-defined operators breed in Python."""
    chosen = engine_name(name, problem, threads)
    if chosen == "reference" or settings.operators:
        return ReferenceEngine(problem, settings, chosen)
    return FastEngine(problem, settings, threads)


class ReferenceEngine:
    """The engine to read: genome by genome, by the operators of this package and the simulator's prices.

    priced_by: "fast" asks the compiled twin for the prices of subgraphs; the answers are the same.
    """

    name: EngineName = "reference"

    def __init__(self, problem: Problem, settings: Settings, priced_by: EngineName = "reference") -> None:
        self.problem = problem
        self.breeder = Breeder(problem, settings)
        self.pricer = Pricer(problem, settings.model_memo, settings.price_memo, priced_by)

    def breed(
        self, seed: int, generation: int, parents: Population, initial: Sequence[Sequence[int]], count: int
    ) -> Population:
        """Return the children, made one after another."""
        children = Population.empty(count, self.problem.size)
        buffers = len(self.problem.buffers)
        genomes = [parents.sample(row, buffers) for row in range(len(parents.cost))]
        known = {parent.genome.key for parent in genomes}
        child = 0
        try:
            while child < count:
                stream = Stream(seed, generation, child)
                if genomes:
                    genome = self.breeder.child(genomes, known, stream)
                else:
                    genome = self.breeder.founder(initial, child, stream)
                children.put(child, self.pricer.evaluate(genome, stream))
                child += 1
        except KeyboardInterrupt:
            raise HalfGeneration(children.rows(0, child)) from None
        return children

    def evolve(
        self, seed: int, generation: int, population: Population, most: int, stale: int, least: float
    ) -> Generations | None:
        """Return None: Ctrl-C may come after each genome."""
        return None

    def price(self, labels: np.ndarray, capacities: np.ndarray) -> Population:
        """Return the genomes, priced one after another."""
        priced = Population.empty(len(labels), self.problem.size)
        buffers = len(self.problem.buffers)
        for row, (names, memory) in enumerate(zip(labels.tolist(), capacities.tolist())):
            priced.put(row, self.pricer.evaluate(Genome(names, tuple(memory[:buffers])), Stream(0, 0, row)))
        return priced


class FastEngine:
    """The compiled twin: a whole generation per call, without the interpreter, shared out among threads."""

    name: EngineName = "fast"

    def __init__(self, problem: Problem, settings: Settings, threads: int = 1) -> None:
        self.problem = problem
        self.settings = settings
        self.compiled = Compiled(problem, settings, threads)
        self.pool = None
        if threads > 1:
            from concurrent.futures import ThreadPoolExecutor

            self.pool = ThreadPoolExecutor(threads)

    def breed(
        self, seed: int, generation: int, parents: Population, initial: Sequence[Sequence[int]], count: int
    ) -> Population:
        """Return the children; each draws from its own stream, so the number of threads cannot change them."""
        asked = seed, generation, parents, initial, count
        return first_of(self._breed_all, lambda *asked: self._readable.breed(*asked))(*asked)

    def evolve(
        self, seed: int, generation: int, population: Population, most: int, stale: int, least: float
    ) -> Generations | None:
        """Return some milliseconds of generations; None if threads share each one, or 64 bits are too few."""
        made = len(population.cost) - self.settings.elite
        most = min(most, max(1, CALL // (self.problem.size * made)))
        if self.pool is not None:
            return None
        return evolved(self.compiled, self.settings, seed, generation, population, most, stale, least)

    def price(self, labels: np.ndarray, capacities: np.ndarray) -> Population:
        """Return the genomes priced, in one call."""
        return first_of(self._price_all, lambda *asked: self._readable.price(*asked))(labels, capacities)

    @cached_property
    def _readable(self) -> ReferenceEngine:
        """The engine that answers where 64 bits are too few."""
        return ReferenceEngine(self.problem, self.settings)

    def _breed_all(
        self, seed: int, generation: int, parents: Population, initial: Sequence[Sequence[int]], count: int
    ) -> Population:
        children = Population.empty(count, self.problem.size)
        founders = np.array(initial, dtype=np.int64).reshape(-1, self.problem.size)
        kernel, scratches = self.compiled.kernel, self.compiled.scratches
        bounds = [count * i // len(scratches) for i in range(len(scratches) + 1)]

        def run(thread: int) -> None:
            kernel.breed(
                scratches[thread], seed, generation, bounds[thread], bounds[thread + 1],
                parents.labels, parents.capacities, founders,
                children.labels, children.capacities, children.value, children.cost,
            )  # fmt: skip

        if self.pool is None:
            run(0)
        else:
            list(self.pool.map(run, range(len(scratches))))
        return children

    def _price_all(self, labels: np.ndarray, capacities: np.ndarray) -> Population:
        count = len(labels)
        priced = Population(labels.copy(), capacities.copy(), np.zeros(count), np.zeros(count))
        self.compiled.kernel.values(self.compiled.scratches[0], *priced)
        return priced
