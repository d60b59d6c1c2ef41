"""Simulated annealing with the mutations of the genetic algorithm (Cocco, Sec. 4.2.4 and 5.1.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cocco.problem.effort import Progress
from cocco.problem.genome import Genome
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.problem.settings import Settings
from cocco.problem.stream import Stream
from cocco.search.genetic.breeder import Breeder
from cocco.search.genetic.trace import Trace
from cocco.search.pricing.genomes import Pricer, Sample

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

    def at(self, share: float) -> float:
        """Return the temperature after this share of the samples."""
        return self.first * (self.last / self.first) ** share


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
    engine: who prices subgraphs; the steps are made in Python.
    """
    breeder = Breeder(problem, settings)
    pricer = Pricer(problem, settings.model_memo, settings.price_memo, engine)
    cooling = cooling or Cooling()
    trace = Trace(problem, samples, progress)
    founders = max(1, len(initial))
    current: Sample | None = None
    least = math.inf
    try:
        while trace.left:
            count = trace.samples
            stream = Stream(seed, count // BLOCK, count % BLOCK)
            if current is None or count < founders:
                sample = pricer.evaluate(breeder.founder(initial, count, stream), stream)
                is_next = current is None or sample.cost < current.cost
            else:
                sample = pricer.evaluate(_neighbour(breeder, current, stream), stream)
                is_next = _accepts(sample.cost - current.cost, least * cooling.at(count / samples), stream)
            trace.add(sample)
            if is_next:
                current = sample
            least = min(least, sample.cost)
            if not trace.samples % BLOCK or not trace.left:
                trace.close()
    except KeyboardInterrupt:
        if not trace.samples:
            stream = Stream(seed, 0, 0)
            trace.add(pricer.evaluate(breeder.founder(initial, 0, stream), stream))
        trace.stop()
    return trace


def _neighbour(breeder: Breeder, current: Sample, stream: Stream) -> Genome:
    """Return the current genome after one mutation, more while it comes back unchanged, repaired."""
    genome = breeder.repaired(breeder.mutate(current.genome, stream))
    for _ in range(breeder.settings.retries):
        if genome != current.genome:
            break
        genome = breeder.repaired(breeder.mutate(current.genome, stream))
    return genome


def _accepts(difference: float, temperature: float, stream: Stream) -> bool:
    """Whether a step is taken that costs so much more."""
    if difference <= 0:
        return True
    if temperature <= 0:  # a cost of 0 cannot be improved
        return False
    return (stream.draw() >> 11) * 2.0**-53 < math.exp(-difference / temperature)
