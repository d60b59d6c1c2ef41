"""Prove co-exploration with kept tensors: which memory, partition, order and kept intervals cost least of all.

Each candidate memory is either solved by the exact search (cocco.bounds.kept) or ruled out. It is ruled out if its
bytes plus alpha times a lower bound of the metric are no less than the best known cost, or if the exact search finds no
plan that beats that cost. If all are solved or ruled out, the best of them is the optimum of Formula 2. Energy is not
monotone in the capacity once nothing is left to save, so no memory is ruled out by its neighbours.

Of the open memories the middle one, by bytes, comes first: its cost is usually close to the best, and a better known
cost makes the others cheaper. All are tried with a small budget before any gets a larger one. Until one is solved, the
next is a smaller one: those are easier, and a network too wide for them is too wide for all. If a search gives up, the
lowest cost that it has not ruled out is its memory's bound. A search that met more sets of layers than allowed is
repeated only for a lower cost. If there is one memory only, it gets the largest budget at once. (Our choices.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cocco.bounds.budgets import LAYERS, smaller
from cocco.bounds.kept import ROUNDING, cheapest_plans
from cocco.bounds.kept_bounds import KeptBounds
from cocco.effort.planned import Memory, Planned
from cocco.effort.stages import tell
from cocco.effort.work_units import once, precompute, stored
from cocco.problem.floor import floor_between
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory

QUICK_STEPS = 32_000_000  #: of one memory in a default search; our choice: about two seconds compiled
QUICK_TOTAL = 256_000_000  #: of all memories together; those that are decided count half: the proof gets on
KNOWN = 64  #: memories whose floors and tables are kept for when they are tried again; our choice
TIERS = (64, 8, 1, 1, 0)  #: the budgets of one memory are its share of these; 0: AGAIN times as much
AGAIN = 2  #: times its budget gets a memory in the end, once one is solved, and patterns of its own; our choice
ALIKE = 1.05  #: times as large is the largest of the memories that share their patterns; our choice
IN_A_ROW = 4  #: that give up, of a long network, then comes the next budget: each takes seconds beside its steps
HOPELESS = (2, 2, 1, 0, 0)  #: memories that give up with each before any is solved, then the next comes; our choices


class KeptProof(NamedTuple):
    """The best plans known, a cost that no answer undercuts, and whether the two meet."""

    best: Planned | None
    lower_bound: float
    is_optimal: bool
    steps: int  #: that the exact searches took
    solved: tuple[Planned, ...]  #: the cheapest of each memory that was solved, in that order


@stored
class Solved(NamedTuple):
    """One memory: its cheapest plans, or that none costs less than a limit (None, decided), or that it is unknown."""

    best: Planned | None
    is_decided: bool
    steps: int
    bound: float = 0.0  #: where it is not known: no plans cost less, in the cost of the problem
    is_wide: bool = False  #: where it is not known: a larger budget does not help


def prove_kept(
    problem: Problem, best: Planned | None, engine: EngineName, per_memory: int = QUICK_STEPS,
    in_total: int = QUICK_TOTAL,
) -> KeptProof:  # fmt: skip
    """Return what the exact search adds to the best plans of another search (None: there was none).

    per_memory: steps that one memory may take; in_total: all steps. Budgets are counts, so the answer does not depend
    on the machine. After Ctrl-C the exception (Stopped) has what was found so far, unproven.
    """

    def job(memory: Memory, share: int) -> tuple[Problem, Memory, EngineName, int, float, bool]:
        known, steps = math.inf if best is None else best.cost, per_memory // share if share else AGAIN * per_memory
        return problem, memory, engine, min(steps, in_total - spent), known, share > 0

    bounds = KeptBounds(problem)
    left = {memory: bounds.cost(memory) for memory in problem.memories}
    order = sorted(left, key=lambda memory: (problem.accelerator_of(memory).buffer_bytes, memory))
    solved: list[Planned] = []
    in_vain: dict[Memory, float] = {}  # by memory the cost below which it was searched, where no budget helps
    in_full: dict[Memory, float] = {}  # and where it got its budget
    steps = spent = failures = 0
    at = None if best is None else best.memory
    try:
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
                precompute(solve, (job(each, share) for each, share in after.likely(memory, tier)))
                found = once(solve, *job(memory, tier))
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
        raise Stopped(_proof(best, left.values(), steps, solved)) from None
    return _proof(best, left.values(), steps, solved)


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


class Stopped(KeyboardInterrupt):
    """Ctrl-C in a proof; `proof`: what is known so far."""

    def __init__(self, proof: KeptProof) -> None:
        super().__init__(proof)
        self.proof = proof


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
    relaxed = _relaxed(problem, memory) if is_alike else None
    found = cheapest_plans(given, max_steps=budget, engine=engine, below=least, relaxed=relaxed)
    steps = sum(plan.steps for plan in found.plans)
    if found.partitions is None:
        *solved, last = found.plans
        if last.status != "gave_up":
            return Solved(None, True, steps)
        value = last.bound
        for plan in solved:
            value += plan.cost
        bound = problem.objective.cost((1 - ROUNDING) * value, machine)
        return Solved(None, False, steps, bound, last.is_wide)
    cost = problem.objective.cost(found.cost, machine)
    return Solved(Planned(memory, found.partitions, found.cost, cost), True, steps)


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


def value_of(problem: Problem, cost: float, buffer_bytes: int) -> float:
    """Return the value of Formula 1 at which Formula 2 reaches a cost; 0 if the buffer alone reaches it."""
    alpha = problem.objective.alpha
    if alpha is None or cost == math.inf:
        return cost
    if cost <= buffer_bytes:
        return 0.0
    return (cost - buffer_bytes) / alpha if alpha else math.inf


def _proof(best: Planned | None, left: Iterable[float], steps: int, solved: list[Planned]) -> KeptProof:
    least = min(left)
    if best is None:
        return KeptProof(None, least, False, steps, tuple(solved))
    return KeptProof(best, min(best.cost, least), least >= best.cost, steps, tuple(solved))
