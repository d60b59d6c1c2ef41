"""The only access to the compiled twin: each call comes with a readable function to fall back on.

The twin counts in 64 bits. If the steps of a subgraph outgrow them it raises OverflowError, and Python, whose integers
are unbounded, answers instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

import numpy as np

from cocco.effort.settings import Settings
from cocco.problem.problem import Problem

if TYPE_CHECKING:
    from cocco.search.kernel._kernel import KeptPrices, KeptSearch, Orders, Scratch

Asked = TypeVarTuple("Asked")
Answered = TypeVar("Answered")
Row = tuple[int, ...]  #: as simulator.model.cost.Totals


def first_of(
    compiled: Callable[[*Asked], Answered], readable: Callable[[*Asked], Answered]
) -> Callable[[*Asked], Answered]:
    """Return a function that calls the compiled twin, and the readable one if 64 bits are too few."""

    def ask(*question: *Asked) -> Answered:
        try:
            return compiled(*question)
        except OverflowError:
            return readable(*question)

    return ask


def twin_of(problem: Problem) -> Compiled:
    """Return the compiled twin of a problem for one thread, made once; twins of all memories share scratch memory."""
    found: Compiled | None = problem.memo.get(Compiled)
    if found is None:
        first: Compiled | None = problem.remembered.get(Compiled)
        found = problem.memo[Compiled] = Compiled(problem, lender=first)
        problem.remembered.setdefault(Compiled, found)
    return found


class Compiled:
    """The compiled twin of a problem: its kernel, with memory of its own for each thread."""

    def __init__(
        self, problem: Problem, settings: Settings | None = None, threads: int = 1, lender: Compiled | None = None
    ) -> None:
        """lender: a twin of the same networks for another memory, whose working memory both use in turn."""
        from cocco.search.kernel import _kernel

        self.problem = problem
        self._twin = _kernel
        self.kernel = _kernel.Kernel(problem, settings, problem.remembered.get(problem.keep))
        problem.remembered.setdefault(problem.keep, self.kernel)  # its layers serve all memories
        self._lender = lender  # its kernel has the tables that the scratch points to
        self.scratches: list[Scratch] = []
        self.scratches += lender.scratches if lender else [_kernel.Scratch(self.kernel) for _ in range(threads)]
        #: what a subgraph costs in buffers of so many bytes, None where it does not fit
        self.price: Callable[[Sequence[int], int, int], Row | None] = partial(self.kernel.price, self.scratches[0])
        #: what it adds to Formula 1 on given hardware, inf where it does not fit
        self.cost: Callable[[Sequence[int]], float] = partial(self.kernel.cost, self.scratches[0])
        #: False only where neither these layers nor any larger set fits there as a subgraph
        self.may_fit: Callable[[Sequence[int], int, int], bool] = partial(self.kernel.may_fit, self.scratches[0])
        #: makes generations of a population, as the kernel says
        self.evolve: Callable[..., tuple[int, int, int]] = partial(_kernel.evolve, self.kernel, self.scratches[0])
        #: makes blocks of steps of simulated annealing, as the kernel says
        self.anneal: Callable[..., None] = partial(_kernel.anneal, self.kernel, self.scratches[0])

    def value(self, labels: Sequence[int], capacities: Sequence[int]) -> tuple[float, float]:
        """Return Formula 1 and the cost of a genome that is valid and fits."""
        memory = (*capacities, *[0] * (2 - len(capacities)))
        value, cost = np.zeros(1), np.zeros(1)
        self.kernel.values(self.scratches[0], np.array([labels]), np.array([memory]), value, cost)
        return float(value[0]), float(cost[0])

    def kept_prices(self, problem: Problem, readable: Callable[..., Row | None]) -> KeptPrices:
        """Return an object that prices steps with kept tensors.

        problem: this one, of one network on given hardware; readable: prices the steps that 64 bits do not hold.
        """
        return self._twin.KeptPrices(self.kernel, self.scratches[0], problem, readable)

    def kept_search(self, prices: KeptPrices, *question: Any) -> KeptSearch:
        """Return an object that searches windows of plans with kept tensors; the kernel documents the arguments."""
        return self._twin.KeptSearch(prices, *question)

    def pattern_left(self, prices: KeptPrices, price_steps: int, small: Any) -> dict[tuple[int, int, int], float]:
        """Return the remaining cost from each state of a pattern (bounds.kept_patterns); price_steps: per price."""
        found: dict[tuple[int, int, int], float] = self._twin.PatternWays(prices, small, price_steps).left()
        return found

    def orders(self, memo: int) -> Orders:
        """Return an object that improves partitions by random orders; memo: the number of prices remembered."""
        return self._twin.Orders(self.kernel, memo)
