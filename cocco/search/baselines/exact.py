"""The enumeration-based method: a shortest path over downsets, one subgraph in the state (Cocco, Sec. 4.2.1).

A state is the set D of layers that have run, closed under producers: the rest of a plan depends on nothing else of the
past (state compression, Jangda et al.). A step runs one subgraph S: from D to D + S at the cost of S. Sets of layers
are integers, bit v for layer v. States are expanded by the number of layers run, so each is final when its turn comes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from cocco.candidates.genome import canonical
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

MAX_STATES = 200_000  #: our choice: the Transformer takes 109,774 at 1 MB + 1.125 MB; some 50 MB
MAX_CANDIDATES = 500_000  #: subgraphs of one state; our choice: some 100 MB where the network has 1000 layers
MAX_STEPS = 100_000_000  #: our choice: half a minute of the compiled engine
LOOK_STEPS = 5  #: steps of a set of layers that is new, and
PRICE_STEPS = 45  #: those of its price, if it may fit: about the shares of the time in the compiled engine


class Exact(NamedTuple):
    """The answer: labels of a cheapest partition and its Formula 1; None and inf where none is known or none runs."""

    labels: list[int] | None
    cost: float
    status: Literal["optimal", "infeasible", "gave_up"]
    states: int  #: downsets found
    transitions: int  #: (state, subgraph) that were looked at, those that do not fit included
    steps: int  #: transitions, and LOOK_STEPS and PRICE_STEPS for what is new among them
    reason: str = ""  #: why it gave up


class _OutOfBudget(Exception):
    """The search has outgrown its bounds; the message says which."""


def exact(
    problem: Problem,
    costs: SubgraphCosts,
    max_states: int = MAX_STATES,
    max_steps: int = MAX_STEPS,
) -> Exact:
    """Return a partition proven to be cheapest; "infeasible" if none runs, "gave_up" if a budget is spent.

    Budgets are counts, so the answer is the same on any machine; memory grows with states and steps only. The
    networks run one after another and costs add up, so each is solved by itself; budgets are for all together.
    Of equally cheap partitions the answer is always the same one.
    """
    search = _Downsets(problem, costs, max_states, max_steps)
    names = [-1] * problem.size
    cost = 0.0
    try:
        for first, end in zip(problem.offsets, problem.offsets[1:]):
            value, subgraphs = search.solve(first, end)
            cost += value
            for group in subgraphs:
                for v in group:
                    names[v] = group[0]
    except _OutOfBudget as stop:
        return Exact(None, math.inf, "gave_up", search.states, search.transitions, search.steps, str(stop))
    if cost == math.inf:
        return Exact(None, cost, "infeasible", search.states, search.transitions, search.steps)
    return Exact(canonical(names), cost, "optimal", search.states, search.transitions, search.steps)


class _Downsets:
    """The search and its counters."""

    def __init__(self, problem: Problem, costs: SubgraphCosts, max_states: int, max_steps: int) -> None:
        self.problem = problem
        self.costs = costs
        self.max_states, self.max_steps = max_states, max_steps
        self.states = self.transitions = self.steps = 0
        self.prices: dict[int, float | None] = {}  # by set of layers
        self.producers = [_mask(producers) for producers in problem.producers]
        self.consumers = [_mask(consumers) for consumers in problem.consumers]
        self.upward = [0] * problem.size  # per layer: itself and its ancestors
        for v, producers in enumerate(problem.producers):
            self.upward[v] = 1 << v
            for p in producers:
                self.upward[v] |= self.upward[p]
        self.downward = [0] * problem.size  # per layer: itself and its descendants
        for v in reversed(range(problem.size)):
            self.downward[v] = 1 << v
            for consumer in problem.consumers[v]:
                self.downward[v] |= self.downward[consumer]
        self.runs_alone = [self._runs_alone(v) for v in range(problem.size)]

    def solve(self, first: int, end: int) -> tuple[float, list[tuple[int, ...]]]:
        """Return the least cost of the layers first to end - 1 and the subgraphs in an order of execution."""
        start = (1 << first) - 1
        levels: list[dict[int, float]] = [{} for _ in range(end - first + 1)]
        levels[0][start] = 0.0
        came_from: dict[int, int] = {start: start}
        self._count_state()
        for count, level in enumerate(levels[:-1]):
            for done, cost in level.items():
                for group, price in self._steps(done, first, end):
                    there, total = done | group, cost + price
                    known = levels[count + group.bit_count()]
                    if there not in known:
                        self._count_state()
                    elif total >= known[there]:
                        continue
                    known[there] = total
                    came_from[there] = done
            levels[count] = {}
        goal = (1 << end) - 1
        if goal not in levels[-1]:  # some layer fits in no subgraph, not even by itself
            return math.inf, []
        subgraphs, done = [], goal
        while done != start:
            subgraphs.append(tuple(_bits(done ^ came_from[done])))
            done = came_from[done]
        return levels[-1][goal], subgraphs[::-1]

    def _steps(self, done: int, first: int, end: int) -> Iterator[tuple[int, float]]:
        """Yield the subgraphs that can run next and fit, each once, with their costs.

        S starts with a ready layer and grows by a layer w that reads it, with the ancestors of w that have not run.
        Complete: a connected S whose producers are in D or S is a union of such closures; as long as part of it is
        missing, an edge leads from the part built so far to the rest, never back, since the part is closed. Growth
        stops where `may_fit` fails, as every larger set also fails. A layer that can only run alone runs at once: that
        excludes no order of the others.
        """
        ready = [v for v in range(first, end) if not done >> v & 1 and not self.producers[v] & ~done]
        ready = next(([v] for v in ready if self.runs_alone[v]), ready)
        seen: set[int] = set()
        for v in ready:
            stack = [1 << v]
            self._see(1 << v, seen)
            while stack:
                group = stack.pop()
                self.transitions += 1
                self._count_steps(1)
                cost = self._cost_of(group)
                if cost is None:
                    continue
                if cost < math.inf:
                    yield group, cost
                if self.runs_alone[v]:
                    break
                readers = 0
                for u in _bits(group):
                    readers |= self.consumers[u]
                for w in _bits(readers & ~group):
                    grown = group | self.upward[w] & ~done
                    if grown not in seen:
                        self._see(grown, seen)
                        stack.append(grown)

    def _cost_of(self, group: int) -> float | None:
        """Return the cost of a set of layers; inf if it does not fit, None if no larger set fits either."""
        if group not in self.prices:
            layers = tuple(_bits(group))
            may_fit = len(layers) == 1 or self.costs.may_fit(layers)
            self.prices[group] = self.costs.costs(layers) if may_fit else None
            self._count_steps(LOOK_STEPS + PRICE_STEPS * may_fit)
        return self.prices[group]

    def _runs_alone(self, u: int) -> bool:
        """Whether no subgraph of several layers can have u as a layer whose producers have all run.

        It would contain a consumer v of u, and, being convex, all layers on paths from u to v.
        """
        return not any(
            self.costs.may_fit(tuple(_bits(self.downward[u] & self.upward[v]))) for v in self.problem.consumers[u]
        )

    def _count_state(self) -> None:
        if self.states == self.max_states:
            raise _OutOfBudget(f"more than {self.max_states} sets of layers to start from")
        self.states += 1

    def _count_steps(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.max_steps:
            raise _OutOfBudget(f"more than {self.max_steps} steps")

    def _see(self, group: int, seen: set[int]) -> None:
        if len(seen) == MAX_CANDIDATES:
            raise _OutOfBudget(f"more than {MAX_CANDIDATES} subgraphs that can run next")
        seen.add(group)


def _mask(layers: Sequence[int]) -> int:
    mask = 0
    for v in layers:
        mask |= 1 << v
    return mask


def _bits(mask: int) -> Iterator[int]:
    """Yield the layers of a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
