"""Prove an answer with addresses: no plan that has addresses costs less, in any memory.

The exact search proves the least cost by bytes. If its plan has addresses, the proof holds for it as it is. If it has
none, or was changed to get them and costs more, the cheapest plan with addresses is sought in that memory
(cheapest.py). Each other memory is then ruled out below that cost, or solved in the same way. This covers only one
network on one core (our choice): answers for several have always had addresses so far.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cocco.bounds.floors.least import gap
from cocco.candidates.judge import judged_plans
from cocco.effort.budgets import KEPT_STEPS
from cocco.effort.planned import Memory, Planned, priced
from cocco.effort.stages import tell
from cocco.effort.status import Status
from cocco.exploration.answers.result import Result
from cocco.exploration.memories.solved import Memories, given_in, value_of
from cocco.exploration.placing.cheapest import placed_plan
from cocco.exploration.question.question import Question

FAR_ABOVE = 1.01  #: times the bound: where nothing has addresses yet, plans up to there are sought; our choice


def proved(question: Question, found: Result, needs_pairs: bool) -> Result:
    """Return the cheapest answer that has addresses, with its proven bound and status.

    found: an answer that was optimal by its bytes, but was changed to get addresses or has none. needs_pairs: as in
    with_addresses.
    """
    problem, bound = question.problem, found.lower_bound
    if bound is None or len(problem.networks) > 1 or problem.accelerator.cores > 1:
        return found
    search = _Proof(question, found, bound, needs_pairs)
    for memory in search.memories():
        search.look_at(memory)
    return search.result()


class _Proof:
    """The cheapest answer with addresses so far, and a cost that no answer undercuts in the memories looked at."""

    def __init__(self, question: Question, found: Result, bound: float, needs_pairs: bool) -> None:
        self.question, self.problem, self.found, self.bound = question, question.problem, found, bound
        self.below = found.cost if found.placed else FAR_ABOVE * bound
        self.table, self.needs_pairs, self.least = Memories(self.problem, question.engine), needs_pairs, math.inf
        self.best: Planned | None = None

    def memories(self) -> list[Memory]:
        """Return the memory of the answer, then the others by their lower bounds."""
        left = self.table.stairs.bound
        mine = self.problem.memory_of(self.found.accelerator)
        others = [each for each in left if each != mine and left[each] < self.below]
        return [mine, *sorted(others, key=left.__getitem__)]

    def look_at(self, memory: Memory) -> None:
        """Find a cheaper answer with addresses in a memory, or rule the memory out as far as possible.

        Once a memory is left open there can be no proof: then others are searched only below its bound.
        """
        problem, budget = self.problem, self.question.budget(KEPT_STEPS)
        is_first = memory == problem.memory_of(self.found.accelerator)
        tell("addresses", best=self.below, bound=min(self.bound, self.below))
        if not is_first:
            asked = min(self.below, self.least)
            solved = self.table.solve(memory, budget, asked)
            if solved.best is None:
                self.least = min(self.least, asked if solved.is_decided else solved.bound)
                return
        machine = problem.accelerator_of(memory)
        value = value_of(problem, self.below, problem.objective.buffer_bytes(machine))
        answer = placed_plan(given_in(problem, memory), value, budget, self.question.engine, self.needs_pairs)
        if answer is None:
            self.least = min(self.least, self.bound)
            return
        if not answer.is_cheapest:
            none_below = self.below if answer.bound >= value else problem.objective.cost(answer.bound, machine)
            self.least = min(self.least, none_below)
        if answer.plan is None:
            return
        self.best = priced(problem, memory, (answer.plan,))
        self.below = self.best.cost

    def result(self) -> Result:
        """Return the answer with its bound and status."""
        found, best = self.found, self.best
        if best is not None:
            found = self._with(best)
        bound = max(self.bound, min(self.least, found.cost))
        is_proven = bool(found.placed) and self.least >= found.cost
        status: Status = "optimal" if is_proven else "feasible"
        return replace(found, lower_bound=bound, gap=gap(found.cost, bound), status=status)

    def _with(self, best: Planned) -> Result:
        winner = judged_plans(self.problem, best.plans, best.memory, [best.cost])
        return self.found.of(winner, best.cost, splits=0, moved=(), placed=True)
