"""The least height: try the lower bound first, then halve what is open; runs that gave up come back with more nodes."""

from __future__ import annotations

from collections.abc import Callable

from cocco.allocation.answer import Outcome
from cocco.allocation.problem import AllocationProblem, Ints

Decide = Callable[[int, int], Outcome]  #: (capacity in granules, limit of nodes) -> how it ended
FIRST_NODES = 4  #: nodes per buffer of the first try of a capacity; our choice
BOUND_EFFORT = 8  #: times as many nodes at the lower bound; our choice: it is the least height more often than not
EFFORT_GROWTH = 4  #: of that, each time all open capacities were tried; our choice


def height_of(problem: AllocationProblem, address: Ints) -> int:
    """Return the height of an allocation in granules."""
    return int((address + problem.size).max(initial=0))


def least_height(
    problem: AllocationProblem, capacity: int, best: Outcome | None, nodes: int, decide: Decide
) -> Outcome:
    """Return the lowest allocation found within a capacity, starting from one that is known, if any.

    The outcome is "feasible" also where the height is the least: `allocate` compares it with what was refuted. It is
    "infeasible" or "gave_up" if nothing was found, and "stopped", with the best so far, if the user stopped it.
    """
    high = capacity + 1 if best is None or best.address is None else height_of(problem, best.address)
    best = best or Outcome("gave_up")
    refuted, spent, limit = problem.bound - 1, 0, FIRST_NODES * len(problem.size)
    status = best.status
    try:
        while spent < nodes and high - 1 > refuted:
            open_from = refuted  # the largest capacity that was refuted or left open in this round
            while spent < nodes and high - 1 > open_from:
                at = problem.bound if open_from < problem.bound else (open_from + high) // 2
                effort = BOUND_EFFORT * limit if at == problem.bound else limit
                tried = decide(at, min(effort, nodes - spent))
                spent += tried.nodes or 0
                refuted = max(refuted, tried.refuted)
                if tried.address is not None:
                    best, status = tried, "feasible"
                    high = height_of(problem, tried.address)
                else:
                    open_from = max(at, refuted)
            limit *= EFFORT_GROWTH
    except KeyboardInterrupt:
        status = "stopped"
    if best.address is None and status != "stopped":
        status = "infeasible" if refuted >= capacity else "gave_up"
    return Outcome(status, best.address, spent, refuted, best.solved_by)
