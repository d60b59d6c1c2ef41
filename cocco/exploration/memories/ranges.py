"""The sizes around an answer: solved where proofs of the network are quick, else priced with the answer's plans.

Of two buffers there is a line: the least energy by total bytes. A pair can be on the line only if its bound is below
the least value known for as many bytes or fewer. Such pairs are solved, those that may gain most first, so that the
line is nearly right everywhere if the budget ends; each answer rules out others. Of the 961 pairs of the paper's space
16 are solved for GoogleNet, 93 for ResNet50 and 187 for VGG16, in half a second to four.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from cocco.candidates.rounding import SAME
from cocco.effort import budgets
from cocco.effort.planned import Memory
from cocco.effort.stages import tell
from cocco.exploration.answers.ranges import LISTED, Ranges
from cocco.exploration.answers.result import Result
from cocco.exploration.memories.nearby import CARRIED, Plans, Sizes
from cocco.exploration.memories.solved import Memories, value_of
from cocco.exploration.question.question import Question


class Open(NamedTuple):
    """A pair that may be on the line: the possible gain, as a share, its bytes, and the cost to undercut."""

    gain: float
    size_bytes: int
    memory: Memory
    cost: float


def solve_line(sizes: Sizes, budget: int) -> None:
    """Solve the pairs that may be on the line; do nothing for one buffer, or for more pairs than are listed."""
    problem = sizes.problem
    if len(sizes.here) != 2 or len(sizes.found) > LISTED or not problem.objective.alpha:
        return
    plans: dict[Memory, Plans] = {}
    setup, most_steps = max(budgets.larger(budgets.SETUP, problem.size), budgets.SETUP_LAYER * problem.size), budget
    for share in budgets.PAIR_TIERS:
        tried, in_vain = set[Memory](), 0
        while budget > setup and in_vain < budgets.IN_VAIN:
            following = max((each for each in _open(sizes) if each.memory not in tried), default=None)
            if following is None:
                break
            tell("other sizes", most_steps - budget, most_steps, "steps")
            memory, most = following.memory, following.cost
            found = sizes.solve(memory, most, budget - setup, share)
            budget -= found.steps + setup
            tried.add(memory)
            in_vain += not found.is_decided
            if found.best is not None:
                sizes.know(memory, found.best.value, found.best.cost)
                plans[memory] = found.best.plans
                sizes.raise_bound(memory, found.best.cost)
            elif found.is_decided and most < math.inf:
                sizes.raise_bound(memory, most)
            else:
                sizes.raise_bound(memory, found.bound)
    for memory in on_line(sizes):
        if memory in plans:
            sizes.plans[memory] = plans[memory]
        elif memory not in sizes.plans and budget > setup:  # only its price is known
            most = (sizes.found[memory].cost or math.inf) * (1 + 2 * SAME)
            found = sizes.solve(memory, most, budget - setup, budgets.PAIR_TIERS[0])
            budget -= found.steps + setup
            if found.best is not None:
                sizes.know(memory, found.best.value, found.best.cost)
                sizes.plans[memory] = found.best.plans


def on_line(sizes: Sizes) -> list[Memory]:
    """Return the pairs on the line: no pair with as many bytes or fewer has a plan of as low a value."""
    least, found = math.inf, list[Memory]()
    values = {memory: math.inf if each.value is None else each.value for memory, each in sizes.found.items()}
    for memory in sorted(values, key=lambda memory: (sizes.bytes_of(memory), values[memory], memory)):
        if values[memory] < least:
            least = values[memory]
            found.append(memory)
    return found


def _open(sizes: Sizes) -> Iterator[Open]:
    """Yield the pairs whose bound is below the line."""
    by_bytes = sorted((sizes.bytes_of(memory), memory) for memory in sizes.found)
    least, at = math.inf, 0
    for size_bytes, memory in by_bytes:
        while at < len(by_bytes) and by_bytes[at][0] == size_bytes:
            value = sizes.found[by_bytes[at][1]].value
            least, at = least if value is None else min(least, value), at + 1
        cost = sizes.problem.objective.cost(least, sizes.problem.accelerator_of(memory))
        bound = sizes.found[memory].bound
        if bound < cost * (1 - 2 * SAME):
            value = value_of(sizes.problem, bound, size_bytes)
            yield Open(least / value - 1 if value else math.inf, size_bytes, memory, cost)


def carry(sizes: Sizes, most: int) -> None:
    """Price the answer's plans in pairs with one buffer larger or smaller, as long as they stay within the margins."""
    if len(sizes.here) != 2:
        return
    for across, up in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        for count in range(1, most + 1):
            memory = (sizes.here[0] + across * count, sizes.here[1] + up * count)
            if memory not in sizes.found or not sizes.price(memory, sizes.result.plans):
                break


def ranges_of(question: Question, result: Result, is_proven: bool) -> Ranges | None:
    """Return the sizes around an answer; None if no plan was found. is_proven: whether the search proved the answer."""
    if not result.plans or not all(each.fits for each in result.evaluations):
        return None
    tell("other sizes")
    size, found = question.problem.size, Sizes(Memories(question.problem, question.engine), result)
    if is_proven:
        found.settle(question.budget(budgets.smaller(budgets.SIZES_TOTAL, size)))
        found.settle_ends()
        found.settle_rest(question.budget(budgets.smaller(budgets.SIZES_REST, size)))
        solve_line(found, question.budget(budgets.smaller(budgets.PAIRS_TOTAL, size)))
    else:
        found.carry()
        carry(found, CARRIED)
    return found.ranges()
