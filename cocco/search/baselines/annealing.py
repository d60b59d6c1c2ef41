"""Simulated annealing with the mutations of the genetic algorithm (Cocco, Sec. 4.2.4 and 5.1.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cocco.candidates.genome import Genome
from cocco.candidates.stream import Stream
from cocco.effort.effort import Progress
from cocco.effort.settings import Settings
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.genetic.engine import HalfGeneration
from cocco.search.genetic.operators.breeder import Breeder
from cocco.search.genetic.population import Population
from cocco.search.genetic.trace import Trace
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.genomes import Pricer, Sample

CALL = 2**20  #: layers of the genomes that are made between two looks at the user; our choice: some 20 ms compiled
BLOCK = 100  #: our choice: samples of one row of the history, as many as a generation of the genetic algorithm


@dataclass(frozen=True)
class Cooling:
    """The temperature, as a share of the best cost so far: from `first` to `last` in equal ratios over the samples.

    Our choice: the paper names a temperature and gives no values. Of starts from 0.003 to 0.1 this one had the best
    mean EMA after 2,000 to 5,000 samples of ResNet50, GoogleNet and RandWire-A, 1 MB + 1.125 MB.
    """

    first: float = 0.01
    last: float = 0.0001

    def __post_init__(self) -> None:
        if not 0 < self.last <= self.first < math.inf:
            raise ValueError(f"cooling needs 0 < last <= first, finite, got first={self.first!r}, last={self.last!r}")

    def over(self, steps: range, count: int) -> list[float]:
        """Return the temperatures of these steps, of so many from 0 on."""
        first, ratio = self.first, self.last / self.first
        return [first * ratio ** (step / count) for step in steps]


class Walk(NamedTuple):
    """The state of a walk: its current genome, the cost of that, and the least cost so far."""

    genome: Genome
    cost: float
    least: float


# number of the first block, founders that it begins with, temperatures over the least cost, where they start -> samples
Steps = Callable[[int, Sequence[Sequence[int]], Sequence[float], Walk | None], tuple[Population, Walk]]


def annealing(
    problem: Problem,
    samples: int,
    seed: int,
    settings: Settings,
    initial: Sequence[Sequence[int]] = (),
    progress: Progress | None = None,
    cooling: Cooling | None = None,
    engine: EngineName = "reference",
) -> Trace:
    """Return the trace of a search that priced exactly this many samples, or fewer if the user stopped it.

    A step mutates the current genome (Sec. 4.4.3), repairs and prices it; it becomes the current one if it is no
    worse, and with probability exp(-difference / temperature) if it is. The start is random, or the best of the
    initial partitions, which count as samples. A genome that equals the current one is mutated again, `retries`
    times at most, as in the genetic algorithm. Of the settings, the shares of the mutations and the memos count.
    engine: makes the steps; with user-defined operators Python makes them, and "fast" prices them.
    """
    cooling = cooling or Cooling()
    trace = Trace(problem, samples, progress, "reference" if settings.operators else engine)
    steps = steps_of(problem, seed, settings, engine)
    walk: Walk | None = None
    try:
        for block, begun in enumerate(range(0, samples, BLOCK)):
            last = min(begun + BLOCK, samples)
            done, walk = steps(block, initial[begun:last], cooling.over(range(begun, last), samples), walk)
            trace.record(done, done)
    except KeyboardInterrupt as stop:
        if isinstance(stop, HalfGeneration) and len(stop.children.cost):
            trace.record(stop.children, stop.children)
        if not trace.samples:
            first, _ = steps(0, initial[:1], [cooling.first], None)
            trace.record(first, first)
        trace.is_stopped = True
    return trace


def steps_of(problem: Problem, seed: int, settings: Settings, engine: EngineName) -> Steps:
    """Return a function that makes the steps of one or more blocks."""
    if engine == "reference" or settings.operators:
        return _Readable(problem, seed, settings, engine).steps
    compiled = Compiled(problem, settings)
    buffers, size = len(problem.buffers), problem.size

    def fast(
        block: int, founders: Sequence[Sequence[int]], temperatures: Sequence[float], walk: Walk | None
    ) -> tuple[Population, Walk]:
        done = Population.empty(len(temperatures), size)
        place = Population.empty(1, size)
        costs = np.zeros(2)
        if walk is not None:
            place.put(0, Sample(walk.genome, 0.0, walk.cost))
            costs[:] = walk.cost, walk.least
        compiled.anneal(
            seed, block, BLOCK, walk is not None, np.array(founders, dtype=np.int64).reshape(-1, size),
            np.array(temperatures), place.labels[0], place.capacities[0], costs, *done,
        )  # fmt: skip
        return done, Walk(place.sample(0, buffers).genome, float(costs[0]), float(costs[1]))

    return first_of(fast, _Readable(problem, seed, settings, "reference").steps)


class Blocks(NamedTuple):
    """How many blocks of a walk were made, their best sample if it improves on all before, and the walk's state."""

    done: int
    best: Sample | None
    walk: Walk


# number of the first block of the walk, the blocks that are left, how many there are of it, where it stands
MakeBlocks = Callable[[int, range, int, Walk], Blocks]


def blocks_of(problem: Problem, seed: int, settings: Settings, engine: EngineName, cooling: Cooling) -> MakeBlocks:
    """Return a function that makes blocks of a walk on given hardware, which cools down over all of its blocks.

    The compiled engine makes many blocks at once, the readable one makes one.
    """
    steps, is_readable = steps_of(problem, seed, settings, engine), engine == "reference" or settings.operators
    at_once = 1 if is_readable else max(1, CALL // (BLOCK * problem.size))

    def make(first: int, left: range, count: int, walk: Walk) -> Blocks:
        made, begun = min(at_once, len(left)), left.start * BLOCK
        shares = cooling.over(range(begun, begun + made * BLOCK), count * BLOCK)
        done, after = steps(first + left.start, (), shares, walk)
        i = int(done.cost.argmin())
        best = Sample(done.sample(i, 0).genome, float(done.cost[i]), float(done.cost[i]))
        return Blocks(made, best if best.cost < walk.least else None, after)

    return make


class _Readable:
    """Makes the steps one after another. engine: prices the subgraphs."""

    def __init__(self, problem: Problem, seed: int, settings: Settings, engine: EngineName) -> None:
        self.seed, self.size = seed, problem.size
        self.breeder = Breeder(problem, settings)
        self.pricer = Pricer(problem, settings.model_memo, settings.price_memo, engine)

    def steps(
        self, block: int, founders: Sequence[Sequence[int]], temperatures: Sequence[float], walk: Walk | None
    ) -> tuple[Population, Walk]:
        """Return the samples of blocks, and the state of the walk after them.

        Raises HalfGeneration with the samples made so far if the user stops it.
        """
        done, i = Population.empty(len(temperatures), self.size), 0
        try:
            for i, temperature in enumerate(temperatures):
                stream = Stream(self.seed, block + i // BLOCK, i % BLOCK)
                if walk is None or i < len(founders):
                    sample = self.pricer.evaluate(self.breeder.founder(founders, i, stream), stream)
                    is_next = walk is None or sample.cost < walk.cost
                else:
                    sample = self.pricer.evaluate(_neighbour(self.breeder, walk.genome, stream), stream)
                    is_next = _accepts(sample.cost - walk.cost, walk.least * temperature, stream)
                done.put(i, sample)
                least = sample.cost if walk is None else min(walk.least, sample.cost)
                if walk is None or is_next:
                    walk = Walk(sample.genome, sample.cost, least)
                else:
                    walk = walk._replace(least=least)
        except KeyboardInterrupt:
            raise HalfGeneration(done.rows(0, i)) from None
        assert walk is not None, "a block has samples"
        return done, walk


def _neighbour(breeder: Breeder, current: Genome, stream: Stream) -> Genome:
    """Return the current genome mutated and repaired; mutate again while it comes back unchanged."""
    for _ in range(breeder.settings.retries + 1):
        genome = breeder.repaired(breeder.mutate(current, stream))
        if genome != current:
            break
    return genome


def _accepts(difference: float, temperature: float, stream: Stream) -> bool:
    """Whether to take a step that costs so much more."""
    if difference <= 0:
        return True
    if temperature <= 0:  # a cost of 0 cannot be improved
        return False
    return (stream.draw() >> 11) * 2.0**-53 < math.exp(-difference / temperature)
