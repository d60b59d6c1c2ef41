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
    given, table, left, is_stopped = best, Memories(problem, engine), dict[Memory, float](), False
    solved: list[Planned] = []
    in_vain: dict[Memory, float] = {}  # by memory the cost below which it was searched, where no budget helps
    in_full: dict[Memory, float] = {}  # and where it got its budget
    steps = spent = 0

    def asked(memory: Memory, share: int) -> tuple[Memory, int, float, bool]:
        known, most = math.inf if best is None else best.cost, per_memory // share if share else AGAIN * per_memory
        return memory, min(most, in_total - spent), known, share > 0

    def is_open(memory: Memory, share: int) -> bool:
        known = math.inf if best is None else best.cost
        is_tried = in_vain.get(memory) == known or (share == 1 and in_full.get(memory) == known)
        return left[memory] < known and not is_tried

    try:
        left = table.stairs.bound
        order = _Order(problem, None if best is None else best.memory)
        while spent < in_total and (following := order.next(is_open)) is not None:
            memory, share = following
            known = math.inf if best is None else best.cost
            done = sum([bound >= known for bound in left.values()])
            tell("proof", done, len(left), "memories", best=known, bound=min(left.values()))
            table.ahead(asked(*each) for each in order.likely(following, is_open))
            found = table.solve(*asked(*following))
            steps += found.steps
            spent += found.steps // 2 if found.is_decided else found.steps
            if not found.is_decided:
                left[memory] = max(left[memory], found.bound)
                in_full |= {memory: known} if share == 1 else {}
                in_vain |= {memory: known} if found.is_wide else {}
            else:
                left[memory] = known
                if found.best is not None:
                    solved.append(found.best)
                    left[memory] = found.best.cost
                    best = carried_down(problem, found.best) if found.best.cost < known else best
                elif best is not None and best.memory == memory:  # brought from another one: it is the cheapest there
                    solved.append(best)
            order.count(memory, found.is_decided, bool(solved))
    except KeyboardInterrupt:
        is_stopped = True
    least = min(left.values(), default=0.0)
    if best is None:
        return Proof(None, least, False, steps, tuple(solved), is_stopped)
    if problem.keep == "none" and problem.buffers and not is_stopped:
        table.stairs.climb(best.cost, no_limit, lambda memory, *_: forced_step(problem, memory), LOOKS)
        least = table.stairs.least
    is_optimal, plans = least >= best.cost, best.plans
    best = best if best is given else confirmed(problem, best)
    solved = [best if each.plans is plans and each.memory == best.memory else each for each in solved]
    return Proof(best, best.cost if is_optimal else min(best.cost, least), is_optimal, steps, tuple(solved), is_stopped)


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
