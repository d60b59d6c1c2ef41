"""The sizes around an answer: solved where proofs of the network are quick, else priced with the answer's plans."""

from __future__ import annotations

from cocco.effort.budgets import PAIRS_TOTAL, SIZES_REST, SIZES_TOTAL, smaller
from cocco.effort.stages import tell
from cocco.exploration.answers.ranges import Ranges
from cocco.exploration.answers.result import Result
from cocco.exploration.memories import nearby, pairs
from cocco.exploration.memories.nearby import Sizes
from cocco.exploration.memories.solved import Memories
from cocco.exploration.question.question import Question


def ranges_of(question: Question, result: Result, is_proven: bool) -> Ranges | None:
    """Return the sizes around an answer; None if no plan was found. is_proven: whether the search proved the answer."""
    if not result.plans or not all(each.fits for each in result.evaluations):
        return None
    tell("other sizes")
    size, found = question.problem.size, Sizes(Memories(question.problem, question.engine), result)
    if is_proven:
        found.settle(question.budget(smaller(SIZES_TOTAL, size)))
        found.settle_ends()
        found.settle_rest(question.budget(smaller(SIZES_REST, size)))
        pairs.solve_line(found, question.budget(smaller(PAIRS_TOTAL, size)))
    else:
        found.carry()
        pairs.carry(found, nearby.CARRIED)
    return found.ranges()
