"""Lower bounds of the cost in every memory, from certificates of some: what crosses in one crosses in smaller ones.

A larger memory only admits more steps, so the least that crosses DRAM in one memory crosses in every memory that is no
larger in any buffer. The bytes and the energy of the buffers are those of each memory itself. Prices of layers that
prove one certificate also hold in smaller memories, and start the next certificate there.

The memory with the lowest bound decides. Certificates are requested halfway between it and the last one above it, so
that one raises many bounds, until it has one of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls, Traffic, least_traffic
from cocco.bounds.floors.least_kept import Floors
from cocco.effort.budgets import LAYER_EFFORT
from cocco.effort.planned import Memory
from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import Totals


class Step(NamedTuple):
    """The least that crosses DRAM in a memory, and in all smaller ones."""

    traffic: tuple[Traffic, ...]  #: per network, for the whole batch
    prices: tuple[float, ...] = ()  #: per layer, that no step is worth more than
    is_open: bool = False  #: whether more effort may prove more
    otherwise: tuple[Traffic, ...] = ()  #: with what may be maps or weights as weights; else it is all among the maps


Certify = Callable[[Memory, Sequence[float], float], Step]  #: asks for a memory, from prices, with so much effort


class Staircase:
    """Lower bounds of a problem by memory."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.steps: dict[Memory, Step] = {}
        self.tries: dict[Memory, int] = {}
        self._floors = Floors(problem)
        self.bound = {memory: self._floors.cost(memory) for memory in problem.memories}

    @property
    def least(self) -> float:
        """A cost that no plan in any memory undercuts."""
        return min(self.bound.values())

    def climb(self, best: float, effort: Callable[[], float], certify: Certify, most: int) -> None:
        """Raise the least bound until it meets a cost, the effort is spent, or `most` certificates were requested."""
        share = max(effort() / (self._floors.shares if self.problem.buffers else 1), LAYER_EFFORT * self.problem.size)
        for _ in range(most):
            lowest = min(self.bound, key=lambda memory: (self.bound[memory], memory))
            at = self._next(lowest, best)
            if self.bound[lowest] >= best or at is None or effort() <= 0:
                return
            above = self._above(at)
            prices = self.steps[above].prices if above is not None else ()
            self.tries[at] = self.tries.get(at, 0) + 1
            self.take(at, certify(at, prices, min(share * self.tries[at], effort())))

    def take(self, at: Memory, step: Step) -> None:
        """Record what crosses in a memory, and raise its bound and those of smaller ones."""
        self.steps[at] = step
        for memory in self.bound:
            if all(a <= b for a, b in zip(memory, at)):
                ways = [each for each in (step.traffic, step.otherwise) if each]
                least = min([self._floors.cost(memory, each) for each in ways])
                self.bound[memory] = max(self.bound[memory], least)

    def _next(self, lowest: Memory, best: float) -> Memory | None:
        """Return the memory to certify next; None if nothing can raise the least bound."""
        above = self._above(lowest)
        if above == lowest:
            return lowest if self.steps[lowest].is_open else None
        if above is None:
            open_ = [memory for memory, bound in self.bound.items() if bound < best]
            above = tuple(map(max, zip(*open_)))
        return tuple((a + b) // 2 for a, b in zip(lowest, above))

    def _above(self, memory: Memory) -> Memory | None:
        """Return the nearest memory with a certificate that holds for this one."""
        found = [each for each in self.steps if all(a <= b for a, b in zip(memory, each))]
        return min(found, key=lambda each: (sum(each), each), default=None)

    def totals(self, memory: Memory) -> list[Totals]:
        """Return totals per network that no plan with a memory undercuts, before any certificate."""
        return self._floors.totals(memory)


def forced_step(problem: Problem, memory: Memory) -> Step:
    """Return what is forced across DRAM in a memory if nothing is kept (cocco.bounds.floors.forced)."""
    given = in_memory(problem, memory)
    return Step(tuple(least_traffic(problem, Hulls(given, SubgraphCosts(given)))))


def no_limit() -> float:
    """Return unlimited effort."""
    return math.inf
