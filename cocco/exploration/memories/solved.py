"""The table of memories: a lower bound of each, its cheapest plans, and the steps that solving it takes.

A row is a memory: positions in the candidates of each buffer. Four questions read the table: the least cost (proof.py),
the front (front.py), the least under limits (limits.py), and which sizes cost nearly as little (nearby.py). A memory is
solved by the exact search (cocco.bounds.cheapest); nothing kept is its simplest case. Budgets are counts, so answers do
not depend on the machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.staircase import Staircase
from cocco.candidates.rounding import SUMMED
from cocco.effort.budgets import MAX_STATES, PROOF_STEPS
from cocco.effort.planned import Memory, Planned, confirmed
from cocco.effort.work_units import once, precompute, stored
from cocco.problem.floor import floor_between
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory

KNOWN = 64  #: memories whose floors and tables are kept for when they are tried again; our choice
ALIKE = 1.05  #: times as large is the largest of the memories that share their patterns; our choice


@stored
class Solved(NamedTuple):
    """One memory: its cheapest plans, or that none costs less than a limit (None, decided), or that it is unknown."""

    best: Planned | None
    is_decided: bool
    steps: int
    bound: float = 0.0  #: where it is not known: no plans cost less, in the cost of the problem
    is_wide: bool = False  #: where it is not known: a larger budget does not help


class StepBudget:
    """Budgets: steps for one memory and for all together, and how many memories in a row may give up (None: any)."""

    def __init__(self, per_memory: int, in_total: float = math.inf, failures: int | None = None) -> None:
        self.per_memory, self.in_total, self.failures = per_memory, in_total, failures
        self.spent = self.in_a_row = 0
        self.is_short = False  # whether they ended before the memories did

    @property
    def left(self) -> int:
        """The steps of the next memory; 0 if no more memory is to be solved."""
        return 0 if self.in_a_row == self.failures else int(max(0, min(self.per_memory, self.in_total - self.spent)))

    def count(self, found: Solved) -> None:
        """Count what solving a memory took."""
        self.spent += found.steps
        self.in_a_row = 0 if found.is_decided else self.in_a_row + 1


class Memories:
    """All memories of a problem."""

    def __init__(self, problem: Problem, engine: EngineName) -> None:
        self.problem, self.engine = problem, engine
        self.below = math.inf  # only plans that cost less are sought
        self.quick, *_ = PROOF_STEPS[problem.keep]

    @cached_property
    def stairs(self) -> Staircase:
        """The lower bounds."""
        return Staircase(self.problem)

    def bound(self, memory: Memory) -> float:
        """Return a cost that no plan with this memory undercuts."""
        return self.stairs.bound[memory]

    def solve(self, memory: Memory, most: int, below: float = math.inf, is_alike: bool = True) -> Solved:
        """Return the cheapest plans with one memory if they cost less than `below`; most: the steps that it may take.

        is_alike: as in `solve`.
        """
        return once(solve, self.problem, memory, self.engine, most, below, is_alike)

    def next(self, order: Sequence[Memory], most: StepBudget) -> Iterator[tuple[Memory, Solved]]:
        """Solve the memories that no bound rules out, in an order; ends with the order or the steps.

        The caller may lower `below` from one memory to the next.
        """
        for number, memory in enumerate(order):
            if self.bound(memory) >= self.below:
                continue
            if not most.left:
                most.is_short = True
                return
            following = (each for each in order[number:] if self.bound(each) < self.below)
            self.ahead((each, most.left, self.below, True) for each in following)
            found = self.solve(memory, most.left, self.below)
            most.count(found)
            yield memory, found

    def ahead(self, asked: Iterable[tuple[Memory, int, float, bool]]) -> None:
        """Let workers solve memories that are likely to be asked for next, each with the arguments of `solve`."""
        precompute(solve, ((self.problem, memory, self.engine, *rest) for memory, *rest in asked))


def solve(
    problem: Problem, memory: Memory, engine: EngineName, budget: int, below: float = math.inf, is_alike: bool = True
) -> Solved:
    """Return the cheapest plans with one memory if they cost less than `below`, in the cost of the problem.

    is_alike: whether its patterns are shared by all memories of about its size, instead of its own.
    """
    given, machine = given_in(problem, memory), problem.accelerator_of(memory)
    if not problem.buffers and given.objective.alpha is not None:
        given = replace(given, objective=replace(given.objective, alpha=None))
    least = value_of(problem, below, problem.objective.buffer_bytes(machine))
    if least <= 0:
        return Solved(None, True, 0)
    if budget < 1:
        return Solved(None, False, 0)
    relaxed = _relaxed(problem, memory) if is_alike else None
    may_keep = problem.keep == "auto"
    found = cheapest_plans(given, MAX_STATES, budget, may_keep, engine, least, relaxed)
    steps = sum(plan.steps for plan in found.plans)
    if found.partitions is None:
        *solved, last = found.plans
        if last.status != "gave_up":
            return Solved(None, True, steps)
        value = last.bound
        for plan in solved:
            value += plan.cost
        bound = problem.objective.cost((1 - SUMMED) * value, machine)
        return Solved(None, False, steps, bound, last.is_wide)
    best = Planned(memory, found.partitions, found.cost, problem.objective.cost(found.cost, machine))
    return Solved(best if may_keep else confirmed(problem, best), True, steps)


def given_in(problem: Problem, memory: Memory) -> Problem:
    """Return the problem in one memory; if tried before, the same object, with all that was computed for it."""
    known: dict[Memory, Problem] = problem.memo.setdefault(given_in, {})
    if memory not in known:
        if len(known) == KNOWN:
            known.clear()
        known[memory] = in_memory(problem, memory)
    return known[memory]


def _relaxed(problem: Problem, memory: Memory) -> Problem | None:
    """Return the problem in a memory that stands for all of about this size; None if there are several buffers."""
    if len(memory) != 1:
        return None
    (sizes,), (at,) = problem.candidates, memory
    alike = _alike(sizes, sizes[at])
    if len(alike) == 1:
        return None
    key = _relaxed, alike[-1]
    if key not in problem.memo:
        given = given_in(problem, (sizes.index(alike[-1]),))
        problem.memo[key] = replace(given, accelerator=floor_between(problem, alike))
    found: Problem = problem.memo[key]
    return found


def _alike(sizes: Sequence[int], size: int) -> Sequence[int]:
    """Return the group that a size belongs to: from the largest down, each group spans up to ALIKE times its smallest.

    Examples
    --------
    >>> _alike((64, 92, 96, 100), 96)
    (96, 100)
    """
    while True:
        group = [each for each in sizes if each * ALIKE >= sizes[-1]]
        if size >= group[0]:
            return tuple(group)
        sizes = sizes[: -len(group)]


def value_of(problem: Problem, cost: float, buffer_bytes: int) -> float:
    """Return the value of Formula 1 at which Formula 2 reaches a cost; 0 if the buffer alone reaches it."""
    alpha = problem.objective.alpha
    if alpha is None or cost == math.inf:
        return cost
    if cost <= buffer_bytes:
        return 0.0
    return (cost - buffer_bytes) / alpha if alpha else math.inf
