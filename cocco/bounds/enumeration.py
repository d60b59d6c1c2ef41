"""Prove by exact enumeration that the best partition, or the best memory, found by a search is optimal.

On given hardware the exact search with nothing kept (cocco.search.exact) either finishes, and its answer is
proven, or gives up. If the memory is chosen as well, each candidate is either solved in this way or ruled out, because
its buffer plus alpha times a lower bound of the metric is no less than the best known cost. If all candidates are
solved or ruled out, the best of them is the optimum of Formula 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from cocco.bounds.forced import largest_hulls
from cocco.bounds.kept import cheapest_plans
from cocco.bounds.least import lower_bound, totals_of
from cocco.bounds.staircase import Staircase, forced_step, no_limit
from cocco.candidates.genome import Genome
from cocco.candidates.judge import judged
from cocco.effort.stages import tell
from cocco.effort.work_units import once
from cocco.problem.floor import floor_of
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory, part_of
from cocco.search.pricing.genomes import Sample

Enumerated = tuple[Sequence[Sequence[int]] | None, int, int, int, float]  # groups, states, steps tried, steps, cost

QUICK_STEPS = 4_000_000  #: of one enumeration in a default search; our choice: under a second compiled
QUICK_TOTAL = 30_000_000  #: of all candidates together where a front or a limit is asked for, or a start; our choice
QUICK_PER_LAYER = 1_000_000  #: of all candidates together in a default search, for each layer; our choice
AGAIN = 4  #: times the steps that the best memory gets, and others once more in the end; our choice
LOOKS = 12  #: memories whose own forced crossings are looked at where the proof is left open; our choice

ROUNDING = 1e-9  #: relative; far above what the order of summation can change, far below any real difference


class Proof(NamedTuple):
    """The best sample known, a cost that no answer undercuts, and whether the two meet."""

    best: Sample | None
    lower_bound: float
    is_optimal: bool
    transitions: int  #: subgraphs that were tried
    is_stopped: bool = False  #: by the user; the rest holds nevertheless


def prove(problem: Problem, best: Sample | None, engine: EngineName, per_memory: int, in_total: int) -> Proof:
    """Return what enumeration adds to the best sample of a search (None: there was no search).

    per_memory: steps that one memory may take; the memory of the best sample may take a multiple, and so may the others
    once all have had a first try. in_total: all steps. Budgets are counts, so the answer does not depend on the
    machine.
    """
    known = None if best is None else best.genome.capacities
    stairs, solver, spent = Staircase(problem), Solver(problem, engine), 0
    left = sorted(stairs.bound, key=lambda memory: (memory != known, stairs.bound[memory], memory))
    try:
        for budget in (per_memory, AGAIN * per_memory):
            again = []
            for number, memory in enumerate(left):
                cost = math.inf if best is None else best.cost
                if stairs.bound[memory] >= cost:
                    continue
                tell("proof", number, len(left), "memories", best=cost, bound=stairs.least)
                most = AGAIN * per_memory if memory == known else budget
                found, steps = solver.solve(memory, min(most, in_total - spent), best)
                spent += steps
                if found is not None:
                    best, stairs.bound[memory] = found, math.inf
                    continue
                again.append(memory)
                if best is not None and memory == known:  # too much for one memory: so is the proof
                    return _open(stairs, solver, best)
            left = again
    except KeyboardInterrupt:
        cost = math.inf if best is None else best.cost
        reached = max(lower_bound(problem), min(cost, stairs.least))
        return Proof(best, reached, False, solver.transitions, True)
    return _open(stairs, solver, best)


def _open(stairs: Staircase, solver: Solver, best: Sample | None) -> Proof:
    """Return what is proven; memories left open are bounded by what is forced across DRAM in them."""
    problem, floor = stairs.problem, lower_bound(stairs.problem)
    if best is None:
        return Proof(None, floor, False, solver.transitions)
    if problem.buffers:
        stairs.climb(best.cost, no_limit, lambda memory, *_: forced_step(problem, memory), LOOKS)
    reached = min(best.cost, stairs.least)
    return Proof(best, max(floor, reached), reached >= best.cost, solver.transitions)


def memory_bounds(problem: Problem) -> list[tuple[float, tuple[int, ...]]]:
    """Return each memory with a lower bound of its cost, in the order of the candidates."""
    memories = []
    totals = totals_of(problem, largest_hulls(problem), problem.accelerator)  # whatever the capacities
    for memory in problem.memories:
        machine = problem.accelerator_of(memory)
        memories.append((problem.objective.cost(problem.objective.value(totals, floor_of(machine)), machine), memory))
    return memories


class Solver:
    """Enumerates the partitions of a problem for one memory after another."""

    def __init__(self, problem: Problem, engine: EngineName) -> None:
        self.problem, self.engine = problem, engine
        self.transitions = 0
        self.parts = [part_of(problem, i) for i in range(len(problem.networks))]

    def solve(self, memory: tuple[int, ...], budget: int, best: Sample | None) -> tuple[Sample | None, int]:
        """Return the better of the optimum with this memory and `best`, None if out of budget; and the steps taken.

        If nothing runs in this memory and `best` is None, it is a sample of infinite cost.
        """
        labels: list[int] = []
        value, spent = 0.0, 0
        for i in range(len(self.parts)):
            groups, cost, steps = self._solve_one(i, memory, budget - spent)
            spent += steps
            if groups is None:
                return None, spent
            value += cost
            found = [0] * self.parts[i].size
            for group in groups:
                for v in group:
                    found[v] = self.problem.offsets[i] + group[0]
            labels += found
        if value == math.inf:
            nothing = Sample(Genome(list(range(self.problem.size)), memory), value, value)
            return best or nothing, spent
        estimate = self.problem.objective.cost(value, self.problem.accelerator_of(memory))
        if best is not None and estimate > best.cost * (1 + ROUNDING):
            return best, spent
        judgement = judged(self.problem, labels, memory, [estimate], rounding=ROUNDING)
        sample = Sample(Genome(labels, memory), self.problem.objective.judged(judgement.evaluations), *judgement.values)
        return (sample if best is None or sample.cost < best.cost else best), spent

    def _solve_one(
        self, i: int, memory: tuple[int, ...], budget: int
    ) -> tuple[Sequence[Sequence[int]] | None, float, int]:
        """Return the subgraphs of one network (None if the budget is spent), their Formula 1, and the steps taken."""
        if budget < 1:
            return None, 0.0, 0
        groups, _, transitions, steps, cost = once(enumerated, self.parts[i], memory, budget, self.engine)
        self.transitions += transitions
        return groups, cost, steps


def enumerated(part: Problem, memory: tuple[int, ...], budget: int, engine: EngineName) -> Enumerated:
    """Return the cheapest partition of one network with one memory; its groups are None if the budget is spent."""
    given = in_memory(part, memory)
    (found,) = cheapest_plans(given, max_steps=budget, may_keep=False, engine=engine).plans
    groups = None if found.status == "gave_up" else found.subgraphs or []
    return groups, found.states, found.steps, found.steps, found.cost
