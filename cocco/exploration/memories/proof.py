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
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cocco.bounds.staircase import forced_step
from cocco.effort.budgets import LAYERS, smaller
from cocco.effort.planned import Memory, Planned, confirmed
from cocco.effort.stages import tell
from cocco.exploration.memories.solved import KEPT_STEPS, KEPT_TOTAL, Memories
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem

LOOKS = 12  #: memories whose own forced crossings are looked at where the proof is left open; our choice
TIERS = (64, 8, 1, 1, 0)  #: the budgets of one memory are its share of these; 0: AGAIN times as much
AGAIN = 2  #: times its budget gets a memory in the end, once one is solved, and patterns of its own; our choice
IN_A_ROW = 4  #: that give up, of a long network, then comes the next budget: each takes seconds beside its steps
HOPELESS = (2, 2, 1, 0, 0)  #: memories that give up with each before any is solved, then the next comes; our choices


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

    def asked(memory: Memory, share: int) -> tuple[Memory, int, float, bool]:
        known, steps = math.inf if best is None else best.cost, per_memory // share if share else AGAIN * per_memory
        return memory, min(steps, in_total - spent), known, share > 0

    given, table, left, is_stopped = best, Memories(problem, engine), dict[Memory, float](), False
    solved: list[Planned] = []
    in_vain: dict[Memory, float] = {}  # by memory the cost below which it was searched, where no budget helps
    in_full: dict[Memory, float] = {}  # and where it got its budget
    steps = spent = failures = 0
    at = None if best is None else best.memory
    try:
        left = table.stairs.bound
        order = sorted(left, key=lambda memory: (problem.accelerator_of(memory).buffer_bytes, memory))
        shares = [smaller(tier, problem.size) if tier else 0 for tier in TIERS]
        tiers = [*zip(shares, HOPELESS)] if len(left) > 1 else [(1, 1)]
        for i, (tier, hopeless) in enumerate(tiers):
            untried, most, in_a_row = order, failures + hopeless, 0
            tried = list[Memory]()
            while spent < in_total and (solved or failures < most) and in_a_row < _most_in_a_row(problem.size, tier):
                known = math.inf if best is None else best.cost
                untried, order = ([m for m in each if left[m] < known] for each in (untried, order))
                untried = [m for m in untried if in_vain.get(m) != known and (tier != 1 or in_full.get(m) != known)]
                if not untried:
                    break
                memory = _next(untried, at, failures if not solved else 0, tried if failures else ())
                untried.remove(memory)
                tell("proof", len(left) - len(order), len(left), "memories", best=known, bound=min(left.values()))
                after = _Order(untried, order, at, bool(solved), failures, most, tuple(tried), tuple(tiers[i + 1 :]))
                table.ahead(asked(each, share) for each, share in after.likely(memory, tier))
                found = table.solve(*asked(memory, tier))
                steps += found.steps
                spent += found.steps // 2 if found.is_decided else found.steps
                tried.append(memory)
                if not found.is_decided:
                    failures, in_a_row = failures + 1, in_a_row + 1
                    left[memory] = max(left[memory], found.bound)
                    in_full |= {memory: known} if tier == 1 else {}
                    in_vain |= {memory: known} if found.is_wide else {}
                    continue
                in_a_row = 0
                order.remove(memory)
                left[memory] = known
                if found.best is not None:
                    solved.append(found.best)
                    left[memory] = found.best.cost
                    best = carried_down(problem, found.best) if found.best.cost < known else best
                elif best is not None and best.memory == memory:  # brought from another one: it is the cheapest there
                    solved.append(best)
    except KeyboardInterrupt:
        is_stopped = True
    least = min(left.values(), default=0.0)
    if best is None:
        return Proof(None, least, False, steps, tuple(solved), is_stopped)
    if problem.keep == "none" and problem.buffers and not is_stopped:
        table.stairs.climb(best.cost, lambda: math.inf, lambda memory, *_: forced_step(problem, memory), LOOKS)
        least = table.stairs.least
    is_optimal, plans = least >= best.cost, best.plans
    best = best if best is given else confirmed(problem, best)
    solved = [best if each.plans is plans and each.memory == best.memory else each for each in solved]
    return Proof(best, best.cost if is_optimal else min(best.cost, least), is_optimal, steps, tuple(solved), is_stopped)


def _most_in_a_row(layers: int, tier: int) -> float:
    return IN_A_ROW if layers > LAYERS and tier > 1 else math.inf


class _Order(NamedTuple):
    """The state of a proof: which memories follow if none of the next ones changes it."""

    untried: list[Memory]  #: with the budget of the moment
    order: list[Memory]  #: with any
    known: Memory | None
    is_solved: bool  #: whether a memory was solved; if not, those that follow are taken to give up
    failures: int
    most: int
    tried: tuple[Memory, ...]  #: with the budget of the moment
    later: tuple[tuple[int, int], ...]  #: the budgets that come next, and how many may give up with each

    def likely(self, first: Memory, tier: int) -> Iterator[tuple[Memory, int]]:
        """Yield memories with the shares of their budgets, in the order in which the proof would solve them."""
        yield first, tier
        rest, failures, most = list(self.untried), self.failures, self.most
        later, tried = list(self.later), [*self.tried, first]
        while True:
            failures += 1
            if not rest or (failures >= most and not self.is_solved):
                if self.is_solved or not later:
                    return
                (tier, hopeless), *later = later
                rest, most, tried = list(self.order), failures + hopeless, []
                if not rest:
                    return
            memory = _next(rest, self.known, 0 if self.is_solved else failures, tried)
            tried.append(memory)
            rest.remove(memory)
            yield memory, tier


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
