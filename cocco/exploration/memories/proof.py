"""Prove co-exploration: which memory and plans cost least of all, each memory solved or ruled out (solved.py).

A memory is ruled out if its bytes plus alpha times a lower bound of the metric are no less than the best known cost, or
if solving it finds no plan that beats that cost. If all are solved or ruled out, the best of them is the optimum of
Formula 2. Energy is not monotone in the capacity once nothing is left to save, so no memory is ruled out by its
neighbours.

The memory of the best known plan comes first, if there is one. Of the open memories the middle one, by bytes, is next:
its cost is usually close to the best, and a better known cost makes the others cheaper. All are tried with a small
budget before any gets a larger one. Until one is solved, the next is a smaller one: those are easier, and a network too
wide for them is too wide for all. If a search gives up, the lowest cost that it has not ruled out is its memory's
bound. A search that met more sets of layers than allowed is repeated only for a lower cost. If there is one memory
only, it gets the largest budget at once. (Our choices.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import NamedTuple

from cocco.bounds.staircase import forced_step, no_limit
from cocco.effort.budgets import AGAIN, HOPELESS, IN_A_ROW, KEPT_STEPS, KEPT_TOTAL, LAYERS, LOOKS, TIERS, smaller
from cocco.effort.planned import Memory, Planned, confirmed
from cocco.effort.stages import tell
from cocco.exploration.memories.solved import Memories
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem


class Proof(NamedTuple):
    """The best plans known, a cost that no answer undercuts, and whether the two meet."""

    best: Planned | None
    lower_bound: float
    is_optimal: bool
    steps: int  #: that the exact searches took
    solved: tuple[Planned, ...] = ()  #: the cheapest of each memory that was solved, in that order
    is_stopped: bool = False  #: by the user; the rest holds nevertheless


def prove(
    problem: Problem, best: Planned | None, engine: EngineName, per_memory: int = KEPT_STEPS,
    in_total: int = KEPT_TOTAL,
) -> Proof:  # fmt: skip
    """Return what the exact search adds to the best plans of another search (None: there was none).

    per_memory: steps that one memory may take; in_total: all steps. If it finds better plans, the simulator has
    confirmed their price.
    """
    search = _Search(problem, best, engine, per_memory, in_total)
    is_stopped = False
    try:
        search.run()
    except KeyboardInterrupt:
        is_stopped = True
    found, least, solved = search.best, min(search.left.values(), default=0.0), search.solved
    if found is None:
        return Proof(None, least, False, search.steps, tuple(solved), is_stopped)
    if problem.keep == "none" and problem.buffers and not is_stopped:
        stairs = search.table.stairs
        stairs.climb(found.cost, no_limit, lambda memory, *_: forced_step(problem, memory), LOOKS)
        least = stairs.least
    is_optimal, plans = least >= found.cost, found.plans
    found = found if found is best else confirmed(problem, found)
    solved = [found if each.plans is plans and each.memory == found.memory else each for each in solved]
    bound = found.cost if is_optimal else min(found.cost, least)
    return Proof(found, bound, is_optimal, search.steps, tuple(solved), is_stopped)


class _Search:
    """The memories of a problem, solved one after another while they are open; what it knows is there at any time."""

    def __init__(
        self, problem: Problem, best: Planned | None, engine: EngineName, per_memory: int, in_total: int
    ) -> None:
        self.problem, self.best, self.per_memory, self.in_total = problem, best, per_memory, in_total
        self.table, self.left = Memories(problem, engine), dict[Memory, float]()
        self.solved: list[Planned] = []
        self.in_vain: dict[Memory, float] = {}  # by memory the cost below which it was searched, where no budget helps
        self.in_full: dict[Memory, float] = {}  # and where it got its budget
        self.steps = self.spent = 0

    @property
    def known(self) -> float:
        """The cost of the best plans."""
        return math.inf if self.best is None else self.best.cost

    def run(self) -> None:
        """Solve the memories in their order, within the budgets."""
        self.left = self.table.stairs.bound
        order = _Order(self.problem, None if self.best is None else self.best.memory)
        while self.spent < self.in_total and (following := order.next(self._is_open)) is not None:
            done = sum([bound >= self.known for bound in self.left.values()])
            tell("proof", done, len(self.left), "memories", best=self.known, bound=min(self.left.values()))
            self.table.ahead(self._asked(*each) for each in order.likely(following, self._is_open))
            is_decided = self._solve(*following)
            order.count(following[0], is_decided, bool(self.solved))

    def _is_open(self, memory: Memory, share: int) -> bool:
        known = self.known
        is_tried = self.in_vain.get(memory) == known or (share == 1 and self.in_full.get(memory) == known)
        return self.left[memory] < known and not is_tried

    def _asked(self, memory: Memory, share: int) -> tuple[Memory, int, float, bool]:
        most = self.per_memory // share if share else AGAIN * self.per_memory
        return memory, min(most, self.in_total - self.spent), self.known, share > 0

    def _solve(self, memory: Memory, share: int) -> bool:
        """Solve a memory with a share of its budget, and return whether it is decided."""
        found, known = self.table.solve(*self._asked(memory, share)), self.known
        self.steps += found.steps
        self.spent += found.steps // 2 if found.is_decided else found.steps
        if not found.is_decided:
            self.left[memory] = max(self.left[memory], found.bound)
            self.in_full |= {memory: known} if share == 1 else {}
            self.in_vain |= {memory: known} if found.is_wide else {}
            return False
        self.left[memory] = known
        if found.best is not None:
            self.solved.append(found.best)
            self.left[memory] = found.best.cost
            self.best = carried_down(self.problem, found.best) if found.best.cost < known else self.best
        elif self.best is not None and self.best.memory == memory:  # brought from another one: it is the cheapest there
            self.solved.append(self.best)
        return True


class _Order:
    """Which memory a proof solves next, and with which share of its budget.

    known: that of the best plans.
    """

    def __init__(self, problem: Problem, known: Memory | None) -> None:
        self.size, self.known, self.failures, self.is_solved = problem.size, known, 0, False
        self.left = sorted(problem.memories, key=lambda each: (problem.accelerator_of(each).buffer_bytes, each))
        shares = [smaller(tier, problem.size) if tier else 0 for tier in TIERS]
        self.tiers = [*zip(shares, HOPELESS)] if len(self.left) > 1 else [(1, 1)]
        self._begin()

    def _begin(self) -> None:
        (self.share, hopeless), *self.tiers = self.tiers
        self.untried, self.tried, self.most, self.in_a_row = self.left, list[Memory](), self.failures + hopeless, 0

    def next(self, is_open: Callable[[Memory, int], bool]) -> tuple[Memory, int] | None:
        """Return the next memory that is open with its share of the budget, and the share; None if there is none."""
        while True:
            self.untried = [each for each in self.untried if is_open(each, self.share)]
            in_a_row = IN_A_ROW if self.size > LAYERS and self.share > 1 else math.inf
            if self.untried and self.in_a_row < in_a_row and (self.is_solved or self.failures < self.most):
                failures, tried = 0 if self.is_solved else self.failures, self.tried if self.failures else []
                memory = _next(self.untried, self.known, failures, tried)
                self.untried, self.tried = [each for each in self.untried if each != memory], [*self.tried, memory]
                return memory, self.share
            if not self.tiers:
                return None
            self._begin()

    def count(self, memory: Memory, is_decided: bool, is_solved: bool) -> None:
        """Count a memory as decided or given up; is_solved: whether any was solved so far."""
        self.is_solved = is_solved
        if is_decided:
            self.left, self.in_a_row = [each for each in self.left if each != memory], 0
        else:
            self.failures, self.in_a_row = self.failures + 1, self.in_a_row + 1

    def likely(self, first: tuple[Memory, int], is_open: Callable[[Memory, int], bool]) -> Iterator[tuple[Memory, int]]:
        """Yield the memories that follow, in the order in which they would if each gave up."""
        ahead = copy(self)
        following: tuple[Memory, int] | None = first
        while following is not None:
            yield following
            ahead.count(following[0], False, self.is_solved)
            following = ahead.next(is_open)


def _next(untried: list[Memory], known: Memory | None, failures: int, tried: Sequence[Memory]) -> Memory:
    """Return the memory to try: that of the best plans, else the middle one.

    Until one is solved, the memory gets smaller with each failure. tried: memories already tried with this budget, if
    one failed before. Then the one farthest from all of these is next, since a nearby one is as hard and costs as much.
    """
    if known is not None and known in untried:
        return known
    if failures or not tried:
        return untried[len(untried) >> (1 + failures)]
    return max(untried, key=lambda memory: (min(_distance(memory, each) for each in tried), memory))


def _distance(one: Memory, other: Memory) -> int:
    return sum([abs(mine - its) for mine, its in zip(one, other)])


def carried_down(problem: Problem, found: Planned) -> Planned:
    """Return the plans in a smaller memory, moved down size by size as long as each step lowers their cost.

    So a low cost is known early. Not for thousands of layers, which take too long to simulate.
    """
    buffers = range(len(found.memory)) if problem.size <= LAYERS else ()
    for buffer in buffers:
        while found.memory[buffer]:
            memory = (*found.memory[:buffer], found.memory[buffer] - 1, *found.memory[buffer + 1 :])
            machine = problem.accelerator_of(memory)
            evaluations = problem.evaluations(found.plans, machine)
            if not all(each.fits for each in evaluations):
                break
            value = problem.objective.judged(evaluations)
            moved = Planned(memory, found.plans, value, problem.objective.cost(value, machine))
            if not moved.cost < found.cost:
                break
            found = moved
    return found
