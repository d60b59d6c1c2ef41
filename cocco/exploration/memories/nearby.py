"""The least and the most that each candidate size around an answer can cost: by bounds, samples, and cheap proofs.

Bounds of all sizes take milliseconds. If the answer was proven, proofs of this network are quick: then sizes that the
bounds leave open are solved, those near the answer first. With one buffer all other sizes follow, which gives the whole
front. Each has a counted budget. Otherwise the plans of the answer are priced in neighbouring sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from cocco.candidates.rounding import SAME
from cocco.effort.budgets import KEPT_STEPS, LAYERS, SETUP, SETUP_LAYER, SIZE_TIERS, larger
from cocco.effort.planned import Memory
from cocco.effort.stages import tell
from cocco.exploration.answers.ranges import MARGINS, Candidate, Ranges, Terms
from cocco.exploration.answers.result import Result
from cocco.exploration.memories.solved import Memories, Solved
from cocco.problem.problem import Problem
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition

CARRIED = 4  #: sizes on each side in which the answer's plans are priced; our choice: each takes up to a second

Plans = tuple[Partition, ...]


class Sizes:
    """All candidate sizes of one problem, and what is known about the cost of each."""

    def __init__(self, table: Memories, result: Result) -> None:
        self.table, self.problem, self.result = table, table.problem, result
        problem = self.problem
        least = result.lower_bound or 0.0  # of all sizes
        self.found = {
            memory: _candidate(problem, memory, max(table.bound(memory), least)) for memory in problem.memories
        }
        self.plans: dict[Memory, Plans] = {}
        self.here = problem.memory_of(result.accelerator)
        for memory, value, cost in _samples(problem, result):
            self.know(memory, value, cost)
        self._say_answer()

    def _say_answer(self) -> None:
        """Record the answer for its size, even if a plan without addresses costs less there."""
        known, cost = self.found[self.here], self.result.cost
        value, terms = (
            self.problem.objective.judged(self.result.evaluations),
            terms_of(self.problem, self.result.evaluations),
        )
        self.found[self.here] = replace(known, cost=cost, value=value, terms=terms, bound=min(known.bound, cost))
        self.plans[self.here] = self.result.plans

    def know(self, memory: Memory, value: float, cost: float) -> bool:
        """Record the cost of a plan in a memory; return whether it is less than any known there."""
        known = self.found[memory]
        if known.cost is not None and known.cost <= cost:
            return False
        self.found[memory] = replace(known, cost=cost, value=value, terms=None, bound=min(known.bound, cost))
        return True

    def raise_bound(self, memory: Memory, cost: float) -> None:
        """Record that no plan in a memory costs less, unless a known plan does."""
        known = self.found[memory]
        least = cost * (1 - SAME) if known.cost is None else min(cost, known.cost)
        self.found[memory] = replace(known, bound=max(known.bound, least))

    def bytes_of(self, memory: Memory) -> int:
        """Return the buffer bytes of a memory that count in the cost."""
        return self.problem.objective.buffer_bytes(self.problem.accelerator_of(memory))

    def around(self) -> Iterator[Memory]:
        """Yield all sizes except that of the answer, nearest first."""
        here = self.found[self.here].buffers

        def distance(memory: Memory) -> tuple[int, Memory]:
            pairs = zip(self.found[memory].buffers, here)
            return sum([abs(mine - its) for (_, mine), (_, its) in pairs]), memory

        yield from (memory for memory in sorted(self.found, key=distance) if memory != self.here)

    def solve(self, memory: Memory, below: float, budget: int, share: int = 1) -> Solved:
        """Return the cheapest plans of a size that cost less than `below`, if a share of its budget suffices."""
        return self.table.solve(memory, min(budget, KEPT_STEPS // share, self.table.quick), below)

    def settle(self, budget: int) -> None:
        """Solve the sizes that margins leave open, nearest first, each with a small budget, then with a larger one."""
        setup = larger(SETUP, self.problem.size)
        most_steps = budget
        for share, memory in product(SIZE_TIERS, list(self.around())):
            known = self.found[memory]
            open_limits = [most for most in self._limits() if known.kind(most) == "open"]
            if not open_limits:
                continue
            if budget <= setup:
                return
            tell("other sizes", most_steps - budget, most_steps, "steps")
            most = open_limits[-1] * (1 + 2 * SAME)
            found = self.solve(memory, most, budget - setup, share)
            budget -= found.steps + setup
            if not found.is_decided:
                continue
            best = found.best
            if best is None:  # the least cost is at least `most`, or that of the known plan
                least = most * (1 - SAME) if known.cost is None else min(most * (1 - SAME), known.cost)
            else:
                if self.know(memory, best.value, best.cost):
                    self.plans[memory] = best.plans
                least = min(best.cost, self.found[memory].cost or best.cost)
            self.found[memory] = replace(self.found[memory], bound=max(known.bound, least))

    def settle_ends(self) -> None:
        """Find plans for sizes at the ends of the margins for which only a sample is known."""
        for memory in self._ends():
            known = self.found[memory]
            if memory in self.plans or known.cost is None:
                continue
            best = self.solve(memory, known.cost * (1 + 2 * SAME), KEPT_STEPS).best
            if best is not None:
                self.plans[memory] = best.plans
                cost = min(best.cost, known.cost)
                self.found[memory] = replace(known, cost=cost, value=best.value, bound=max(known.bound, cost))

    def settle_rest(self, budget: int) -> None:
        """Solve the remaining sizes of one buffer, easy sizes first, so that the whole front is known."""
        if len(self.here) != 1:
            return
        setup, most_steps = max(SETUP, SETUP_LAYER * self.problem.size), budget
        for share, memory in product(SIZE_TIERS, list(self.around())):
            known = self.found[memory]
            most = math.inf if known.cost is None else known.cost
            if known.bound >= most * (1 - SAME):
                continue
            if budget <= setup:
                break
            tell("other sizes", most_steps - budget, most_steps, "steps")
            found = self.solve(memory, most * (1 + 2 * SAME), budget - setup, share)
            budget -= found.steps + setup
            if found.best is not None:
                is_better = self.know(memory, found.best.value, found.best.cost)
                if is_better or (memory not in self.plans and found.best.cost <= most * (1 + SAME)):
                    self.plans[memory] = found.best.plans
            known = self.found[memory]
            least = known.cost if found.is_decided and known.cost is not None else found.bound
            self.found[memory] = replace(known, bound=max(known.bound, least))
        if self.problem.size > LAYERS:
            return
        for memory in [each for each in self.around() if self.found[each].cost is None][: 2 * CARRIED]:
            smaller_ones = [each for each in self.plans if each < memory]
            if smaller_ones:  # what runs there runs here
                self.price(memory, self.plans[max(smaller_ones)])

    def carry(self) -> None:
        """Price the answer's plans in neighbouring sizes, as long as they stay within the margins."""
        if len(self.here) != 1:
            return
        for step in (-1, 1):
            for count in range(1, CARRIED + 1):
                memory = (self.here[0] + step * count,)
                if memory not in self.found or not self.price(memory, self.result.plans):
                    break

    def ranges(self) -> Ranges:
        """Return all that is known as `Ranges`, with the terms of the answer and of the ends of the margins."""
        for memory in self._ends():
            plans = self.plans.get(memory)
            if plans is not None and self.found[memory].terms is None:
                self._say_terms(memory, self._evaluations(memory, plans))
        found = (replace(each, plans=self.plans.get(memory)) for memory, each in self.found.items())
        return Ranges(self.result.cost, tuple(found))

    def _ends(self) -> list[Memory]:
        """Return the smallest and the largest size within the widest margin."""
        within = [memory for memory, each in self.found.items() if each.kind(self._limits()[-1]) == "within"]
        by_size = sorted(within, key=lambda memory: (self.found[memory].size_bytes, memory))
        return [by_size[0], by_size[-1]] if by_size else []

    def _limits(self) -> list[float]:
        return [self.result.cost * (1 + margin) for margin in MARGINS]

    def price(self, memory: Memory, plans: Plans) -> bool:
        """Price plans in a memory and record the cost; return whether they run there within the margins."""
        evaluations = self._evaluations(memory, plans)
        if not all(each.fits for each in evaluations):
            return False
        value = self.problem.objective.judged(evaluations)
        cost = self.problem.objective.cost(value, evaluations[0].accelerator)
        if self.know(memory, value, cost):
            self.plans[memory] = plans
            self._say_terms(memory, evaluations)
        return cost <= self._limits()[-1]

    def _evaluations(self, memory: Memory, plans: Plans) -> tuple[Evaluation, ...]:
        return self.problem.evaluations(plans, self.problem.accelerator_of(memory))

    def _say_terms(self, memory: Memory, evaluations: tuple[Evaluation, ...]) -> None:
        terms = terms_of(self.problem, evaluations)
        self.found[memory] = replace(self.found[memory], terms=terms)


def terms_of(problem: Problem, evaluations: tuple[Evaluation, ...]) -> Terms:
    """Return the energy of plans, split into the terms that decide about a size."""
    total = Terms(0.0, 0.0, 0.0, 0.0)
    for weight, evaluation in zip(problem.objective.weights, evaluations):
        parts = evaluation.energy_breakdown
        assert parts is not None, "a plan that fits has an energy"
        found = (
            parts.dram + (parts.dram_background or 0.0),
            parts.global_buffer + parts.weight_buffer,
            (parts.leakage or 0.0) + (parts.logic_leakage or 0.0),
            parts.compute + parts.crossbar + (parts.idle or 0.0),
        )
        total = Terms(*(before + weight * each for before, each in zip(total, found)))
    return total


def _candidate(problem: Problem, memory: Memory, bound: float) -> Candidate:
    machine = problem.accelerator_of(memory)
    buffers = tuple((f"{name}_bytes", int(getattr(machine, name))) for name in problem.buffers)
    return Candidate(buffers, bound, machine.area_mm2, machine.leakage_mw)


def _samples(problem: Problem, result: Result) -> Iterator[tuple[Memory, float, float]]:
    """Yield the cheapest sample of each size that a search priced, with its value and cost."""
    places = [{size: i for i, size in enumerate(sizes)} for sizes in problem.candidates]
    for row in result.seen.cheapest():
        if row["cost"] < math.inf:
            memory = tuple(place[row[f"{name}_bytes"]] for place, name in zip(places, problem.buffers))
            yield memory, row["value"], row["cost"]
