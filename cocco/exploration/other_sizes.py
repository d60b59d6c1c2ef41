"""The sizes around an answer: solved where proofs of the network are quick, else priced with the answer's plans."""

from __future__ import annotations

from cocco.bounds import enumeration, kept_memories
from cocco.bounds.budgets import smaller
from cocco.candidates.genome import Genome, groups_of
from cocco.effort.planned import Memory
from cocco.effort.stages import tell
from cocco.effort.work_units import once
from cocco.exploration import sizes, two_buffers
from cocco.exploration.question import Question
from cocco.exploration.ranges import Ranges
from cocco.exploration.result import Result
from cocco.exploration.sizes import Settle, Settled, Sizes
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.pricing.genomes import Sample


def ranges_of(question: Question, result: Result, is_proven: bool) -> Ranges | None:
    """Return the sizes around an answer; None if no plan was found. is_proven: whether the search proved the answer."""
    if not result.plans or not all(each.fits for each in result.evaluations):
        return None
    problem, engine = question.problem, question.engine
    tell("other sizes")
    found = Sizes(problem, result)
    if is_proven:
        settle = _kept(problem, engine) if problem.keep == "auto" else _enumerated(problem, engine)
        found.settle(settle, question.budget(smaller(sizes.TOTAL, problem.size)))
        found.settle_ends(settle)
        found.settle_rest(settle, question.budget(smaller(sizes.REST, problem.size)))
        two_buffers.solve_line(found, settle, question.budget(smaller(two_buffers.LINE, problem.size)))
    else:
        found.carry()
        two_buffers.carry(found, sizes.CARRIED)
    return found.ranges()


def _kept(problem: Problem, engine: EngineName) -> Settle:
    """Return a function that solves a size with kept tensors."""

    def settle(memory: Memory, most: float, budget: int) -> Settled:
        found = once(kept_memories.solve, problem, memory, engine, budget, most)
        if found.best is None:
            return Settled(found.is_decided, None, 0.0, 0.0, found.steps, found.bound)
        return Settled(True, found.best.plans, found.best.value, found.best.cost, found.steps)

    return settle


def _enumerated(problem: Problem, engine: EngineName) -> Settle:
    """Return a function that solves a size with nothing kept."""
    solver = enumeration.Solver(problem, engine)

    def settle(memory: Memory, most: float, budget: int) -> Settled:
        nothing = Sample(Genome(list(range(problem.size)), memory), most, most)
        found, steps = solver.solve(memory, min(budget, enumeration.QUICK_STEPS), nothing)
        if found is None or found is nothing:
            return Settled(found is not None, None, 0.0, 0.0, steps)
        plans = problem.partitions(groups_of(found.genome.labels))
        return Settled(True, plans, found.value, found.cost, steps)

    return settle
