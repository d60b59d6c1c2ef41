"""Look in other memories for a cheaper answer, if the best memory's plan has no addresses or got them at extra cost.

Our choice: only a few sizes, nearest first. The exact search solves each for plans that cost less than the changed
answer, and these get their addresses in the same way. So an answer only gets cheaper, or gets a map.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from cocco.bounds.kept_bounds import KeptBounds
from cocco.bounds.kept_memories import QUICK_STEPS, TIERS, solve
from cocco.bounds.least import gap
from cocco.candidates.judge import judged_plans
from cocco.effort.planned import Memory, Planned, confirmed
from cocco.effort.stages import tell
from cocco.effort.status import Status
from cocco.effort.work_units import once, precompute
from cocco.exploration.moves import Moved
from cocco.exploration.question import Question
from cocco.exploration.result import Result
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem

MEMORIES = 8  #: that are asked at most; our choice
STEPS = QUICK_STEPS // TIERS[1]  #: of the exact search in each; our choice

Placing = Callable[[Result], Result]  #: what gives an answer its addresses


def in_other_memories(question: Question, found: Result, place: Placing) -> Result:
    """Return a cheaper answer with addresses in another memory, or `found` if there is none.

    found: an answer that was changed to get addresses, or that lacks some.
    """
    problem = question.problem
    chosen, best = problem.memory_of(found.accelerator), found
    bounds, asked = KeptBounds(problem), 0
    nearest, steps = _nearest(problem, chosen), question.budget(STEPS)

    def job(memory: Memory) -> tuple[Problem, Memory, EngineName, int, float]:
        return problem, memory, question.engine, steps, most

    for number, memory in enumerate(nearest):
        most = best.cost if best.placed else math.inf
        if asked == MEMORIES:
            break
        if bounds.cost(memory) >= most:
            continue
        tell("other memories", asked, MEMORIES, "memories")
        following = [each for each in nearest[number:] if bounds.cost(each) < most][: MEMORIES - asked]
        precompute(solve, map(job, following))
        asked += 1
        solved = once(solve, *job(memory)).best
        if solved is None:
            continue
        other = place(_with(problem, found, confirmed(problem, solved)))
        if other.placed and other.cost < most:
            best = replace(other, moved=(_moved(problem, found, other), *(other.moved or ())))
    return best


def _nearest(problem: Problem, chosen: Memory) -> list[Memory]:
    """Return the other memories, nearest in bytes first; of two equally near, the larger first."""
    size = problem.accelerator_of(chosen).buffer_bytes
    others = [(problem.accelerator_of(memory).buffer_bytes - size, memory) for memory in problem.memories]
    return [memory for more, memory in sorted(others, key=lambda each: (abs(each[0]), -each[0])) if memory != chosen]


def _with(problem: Problem, found: Result, planned: Planned) -> Result:
    """Return the answer replaced by other plans in another memory."""
    winner = judged_plans(problem, planned.plans, planned.memory, [planned.cost])
    bound = found.lower_bound
    return replace(
        found, accelerator=winner.accelerator, plans=winner.plans, evaluations=winner.evaluations, cost=planned.cost,
        gap=None if bound is None else gap(planned.cost, bound), moved=None, placed=None, splits=None,
        status=_status(found, planned.cost),
    )  # fmt: skip


def _status(found: Result, cost: float) -> Status:
    if found.lower_bound is not None and cost <= found.lower_bound:
        return "optimal"
    return "feasible" if found.status == "optimal" else found.status


def _moved(problem: Problem, found: Result, other: Result) -> Moved:
    """Return the description of the change to the other memory."""
    names = " + ".join(f"{getattr(other.accelerator, name):,}" for name in problem.buffers)
    before = " + ".join(f"{getattr(found.accelerator, name):,}" for name in problem.buffers)
    why = "it costs more with changes that give it addresses" if found.placed else "no addresses were found there"
    text = f"{names} bytes of buffer in place of {before}: {why}"
    return Moved(problem.networks[0].name, "resized", None, None, text)
