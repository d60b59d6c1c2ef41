"""The fullest steps first: places what lives in them exactly, by the complete search, and the rest in the gaps.

Long lists, such as tensor dumps of training, fill the memory in a few steps only. Around the fullest section a window
grows until a given number of buffers begin or end in it. Buffers that span the whole window lie at the bottom in one
block, because they overlap everything there and can be pushed down. What is left is a small problem: if it has no
answer, neither has the whole. Starting from its answer, greedy orders place the block's buffers at their bottom and
the others where they fit. Our design.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cocco.allocation.answer import Outcome
from cocco.allocation.exact.complete import complete
from cocco.allocation.heuristics.greedy import ORDERS, first_fit
from cocco.allocation.problem import AllocationProblem, Ints, make_problem
from simulator.allocation.buffers import Buffer

WINDOW_BUFFERS = (50, 150, 450, 1_350)  #: buffers that begin or end in a window; our choice
WINDOW_SHARE = 10  #: of the nodes of the whole question for a window; our choice
REST_ORDERS = ("size", "contention", "area")  #: orders of what is left; our choice


class FullestWindow(NamedTuple):
    """Sections [start, end), the buffers that span them all, and those that are live in some only."""

    start: int
    end: int
    spanning: Ints
    others: Ints


def fullest_first(problem: AllocationProblem, capacity: int, nodes: int, engine: str) -> Outcome:
    """Return addresses within a capacity (granules), the proof that there are none, or "gave_up".

    With alignments, gaps or fixed offsets it gives up at once. nodes: about the limit of the search in all windows.
    """
    spent, name = 0, f"fullest first at {capacity * problem.granule}"
    if not _is_plain(problem):
        return Outcome("gave_up", None, 0)
    seen = None
    for width in WINDOW_BUFFERS:
        window = grow(problem, width)
        if seen == window[:2]:
            break
        seen = window[:2]
        found = _solve(problem, capacity, window, max(nodes // WINDOW_SHARE, 1), engine)
        spent += found.nodes or 0
        if found.status == "infeasible":
            return Outcome("infeasible", None, spent, capacity, name)
        if found.address is None:
            break  # wider ones are harder
        for rest in REST_ORDERS:
            address = _around(problem, window, found.address, rest)
            if int((address + problem.size).max()) <= capacity:
                return Outcome("feasible", address, spent, solved_by=name)
    return Outcome("gave_up", None, spent)


def grow(problem: AllocationProblem, width: int) -> FullestWindow:
    """Return the widest window around the fullest section that no more than `width` buffers begin or end in.

    It grows by the fuller of the two adjacent sections, and is at least that section alone.
    """
    contention = [*problem.contention.tolist(), -1]
    fullest = int(np.argmax(contention))
    best = _window(problem, fullest, fullest + 1)
    while best.end - best.start < problem.sections:
        left = int(best.start > 0 and contention[best.start - 1] >= contention[best.end])
        wider = _window(problem, best.start - left, best.end + 1 - left)
        if len(wider.others) > width:
            break
        best = wider
    return best


def _window(problem: AllocationProblem, start: int, end: int) -> FullestWindow:
    is_spanning = (problem.first <= start) & (problem.last >= end)
    is_live = (problem.first < end) & (problem.last > start)
    return FullestWindow(start, end, np.flatnonzero(is_spanning), np.flatnonzero(is_live & ~is_spanning))


def _solve(problem: AllocationProblem, capacity: int, window: FullestWindow, nodes: int, engine: str) -> Outcome:
    """Return addresses of the others, above the block of those that span the window; its refusal is a proof."""
    block = int(problem.size[window.spanning].sum())
    first, last = problem.first, problem.last
    inside = [
        Buffer(str(i), max(int(first[i]), window.start), min(int(last[i]), window.end), int(problem.size[i]))
        for i in window.others.tolist()
    ]
    part = make_problem(inside)
    found = complete(part, (capacity - block) // part.granule, nodes, engine)
    if found.address is None:
        return found
    return found._replace(address=found.address * part.granule + block)


def _around(problem: AllocationProblem, window: FullestWindow, inside: Ints, rest: str) -> Ints:
    """Return addresses of all: those inside as given, what spans the window by lifetime, all else by an order."""
    address: Ints = np.full(len(problem.size), -1, dtype=np.int64)
    address[window.others] = inside
    is_spanning: npt.NDArray[np.bool_] = np.zeros(len(address), dtype=bool)
    is_spanning[window.spanning] = True
    rests = [each * ~is_spanning for each in ORDERS[rest](problem)]
    keys = [is_spanning.astype(np.int64), np.where(is_spanning, problem.lifetime, 0), *rests]
    order = np.lexsort([np.arange(len(address)), *reversed([-np.asarray(key, dtype=object) for key in keys])])
    first_fit(problem, [i for i in order.tolist() if address[i] < 0], address)
    return address


def _is_plain(problem: AllocationProblem) -> bool:
    has_gaps = len(problem.piece_first) > len(problem.size)
    return len(problem.size) > 0 and not has_gaps and problem.alignment.max() == 1 and problem.fixed.max() < 0
