"""Annealing from the best genome of a search, in its memory and in nearby ones (our choice; not in the paper).

A population settles on one memory, and its plans fit that one: a genome whose memory mutates is worse until its plan
has changed as well. So walks of simulated annealing (cocco.search.baselines.annealing) follow, each in one memory: a
warm one in the memory of the best genome, short cold ones in other sizes, and a last one in the best memory found.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cocco.candidates.genome import Genome
from cocco.candidates.stream import STREAMS, WALKS, Stream
from cocco.effort.planned import Memory
from cocco.effort.settings import Settings
from cocco.effort.stages import tell
from cocco.effort.work_units import stored
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory
from cocco.search.baselines.annealing import BLOCK, Cooling, Walk, blocks_of
from cocco.search.pricing.genomes import Pricer, Sample

STEPS_PER_SAMPLE = (
    10  #: of a walk count as one sample: each changes a few subgraphs, most of which had a price before; our choice
)
REPORTS = 50  #: parts of a walk that each report their best, if it is the best so far; our choice
LEAST_ANNEALED = 100  #: below, nothing is annealed; our choice: walks of a hundred steps find little
MERGE = 0.1  #: share of merge-subgraph: with more of them most steps make what does not fit; our choice
OTHERS = (-1, 1, -2, 2, -4, 4)  #: sizes of a buffer from that of the best genome; our choice
WARM, COLD, LAST = (0.4, 0.7), (0.25, 0.1), (0.35, 0.3)  #: share of the samples, first temperature over cost per layer
END = 0.005  #: last temperature of each walk; our choices, from trials on RandWire-A, RandWire-B and NASNet


@stored
class Annealed(NamedTuple):
    """How the best of each walk fell, the samples that all walks took, and whether the user stopped it."""

    found: list[tuple[int, list[int], Memory, float, float]]  #: samples taken, labels, memory, Formula 1, cost
    samples: int
    is_stopped: bool


def annealed(
    problem: Problem, labels: Sequence[int], memory: Memory, samples: int, seed: int, engine: EngineName
) -> Annealed:
    """Return what walks find that start from a partition in a memory (positions of its candidates).

    All together take at most `samples` samples of STEPS_PER_SAMPLE steps each. On given hardware there are a warm walk
    and a last one only.
    """
    walks = _Walks(problem, samples, seed, engine)
    share, is_stopped = WARM[0] if problem.buffers else 1 - LAST[0], False
    try:
        best = walks.go(list(labels), tuple(memory), int(share * samples), WARM[1])
        others = list(_others(problem, memory))
        for other in others:
            walks.go(best.genome.labels, other, int(COLD[0] * samples) // len(others), COLD[1])
        best = min((each for _, each in walks.found), key=lambda each: each.cost)
        walks.go(best.genome.labels, best.genome.capacities, samples - walks.samples, LAST[1])
    except KeyboardInterrupt:
        is_stopped = True
    found = [(min(at, walks.samples), *each.genome, each.value, each.cost) for at, each in walks.found]
    return Annealed(found, walks.samples, is_stopped)


class _Walks:
    """The walks of one search."""

    def __init__(self, problem: Problem, samples: int, seed: int, engine: EngineName) -> None:
        """samples: of all walks together."""
        self.problem, self.wanted, self.seed, self.engine = problem, samples, seed, engine
        self.pricer = Pricer(problem, engine=engine)
        self.settings = Settings(merge=MERGE)
        self.found: list[tuple[int, Sample]] = []  # samples taken, and the best of its walk until then
        self.walks = self.samples = 0

    def go(self, labels: list[int], memory: Memory, samples: int, temperature: float) -> Sample:
        """Return the best of a walk of at most `samples` samples; its first subgraphs are split to fit the memory."""
        start = self.pricer.evaluate(Genome(labels, memory), Stream(self.seed, WALKS - 1, self.walks))
        self.walks, self.samples = self.walks + 1, self.samples + 1
        self.found.append((self.samples, start))
        if start.cost == math.inf:  # a layer does not run there
            return start
        count = max(0, samples - 1) * STEPS_PER_SAMPLE // BLOCK
        cooling = Cooling(temperature / self.problem.size, END / self.problem.size)
        make = blocks_of(in_memory(self.problem, memory), self.seed, self.settings, self.engine, cooling)
        walk = Walk(Genome(start.genome.labels, ()), start.value, start.value)
        machine, first = self.problem.accelerator_of(memory), WALKS + STREAMS * self.walks
        block, begun = 0, self.samples
        while block < count:
            tell("annealing", self.samples, self.wanted, "samples")
            stop = -(-count * (block * REPORTS // count + 1) // REPORTS)
            done, best, walk = make(first, range(block, stop), count, walk)
            block += done
            self.samples += done * BLOCK // STEPS_PER_SAMPLE
            if best is not None:
                cost = self.problem.objective.cost(best.value, machine)
                sample = Sample(Genome(best.genome.labels, memory), best.value, cost)
                at = begun + stop * BLOCK // STEPS_PER_SAMPLE
                self.found[len(self.found) - (self.found[-1][0] == at) :] = [(at, sample)]
        return self.found[-1][1]


def _others(problem: Problem, memory: Sequence[int]) -> Iterator[Memory]:
    """Yield memories with one buffer a few sizes smaller or larger."""
    for buffer, sizes in enumerate(problem.candidates):
        for step in OTHERS:
            moved = memory[buffer] + step
            if 0 <= moved < len(sizes):
                yield (*memory[:buffer], moved, *memory[buffer + 1 :])
