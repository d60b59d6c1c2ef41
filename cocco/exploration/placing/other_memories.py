"""Look in other memories for a cheaper answer, if the best memory's plan has no addresses or got them at extra cost.

Our choice: only a few sizes, nearest first. The exact search solves each for plans that cost less than the changed
answer, and these get their addresses in the same way. So an answer only gets cheaper, or gets a map.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from cocco.candidates.judge import judged_plans
from cocco.effort.budgets import OTHER_MEMORIES, OTHER_STEPS
from cocco.effort.planned import Memory, Planned, confirmed
from cocco.effort.stages import tell
from cocco.exploration.answers.lacking import Moved
from cocco.exploration.answers.result import Result
from cocco.exploration.memories.solved import Memories, StepBudget
from cocco.exploration.question.question import Question
from cocco.problem.problem import Problem

Placing = Callable[[Result], Result]  #: what gives an answer its addresses


def in_other_memories(question: Question, found: Result, place: Placing) -> Result:
    """Return a cheaper answer with addresses in another memory, or `found` if there is none.

    found: an answer that was changed to get addresses, or that lacks some.
    """
    problem = question.problem
    best, table = found, Memories(problem, question.engine)
    nearest = _nearest(problem, problem.memory_of(found.accelerator))
    table.below = best.cost if best.placed else math.inf
    tell("other memories", 0, OTHER_MEMORIES, "memories")
    steps = question.budget(OTHER_STEPS)
    for number, (_, solved) in enumerate(islice(table.next(nearest, StepBudget(steps)), OTHER_MEMORIES), 1):
        tell("other memories", number, OTHER_MEMORIES, "memories")
        if solved.best is None:
            continue
        other = place(_with(problem, found, confirmed(problem, solved.best)))
        if other.placed and other.cost < table.below:
            best = replace(other, moved=(_moved(problem, found, other), *(other.moved or ())))
            table.below = best.cost
    return best


def _nearest(problem: Problem, chosen: Memory) -> list[Memory]:
    """Return the other memories, nearest in bytes first; of two equally near, the larger first."""
    size = problem.accelerator_of(chosen).buffer_bytes
    others = [(problem.accelerator_of(memory).buffer_bytes - size, memory) for memory in problem.memories]
    return [memory for more, memory in sorted(others, key=lambda each: (abs(each[0]), -each[0])) if memory != chosen]


def _with(problem: Problem, found: Result, planned: Planned) -> Result:
    """Return the answer replaced by other plans in another memory."""
    winner = judged_plans(problem, planned.plans, planned.memory, [planned.cost])
    return found.of(winner, planned.cost, moved=None, placed=None, splits=None)


def _moved(problem: Problem, found: Result, other: Result) -> Moved:
    """Return the description of the change to the other memory."""
    names = " + ".join(f"{getattr(other.accelerator, name):,}" for name in problem.buffers)
    before = " + ".join(f"{getattr(found.accelerator, name):,}" for name in problem.buffers)
    why = "it costs more with changes that give it addresses" if found.placed else "no addresses were found there"
    text = f"{names} bytes of buffer in place of {before}: {why}"
    return Moved(problem.networks[0].name, "resized", None, None, text)
