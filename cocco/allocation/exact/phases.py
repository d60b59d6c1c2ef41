"""Phases of contention: which buffers to place together, and first (TelaMalloc, Sec. 5.3 and Fig. 9)."""

from __future__ import annotations

from collections.abc import Iterator

from cocco.allocation.exact.canonical import crossings, pieces_of
from cocco.allocation.problem import AllocationProblem

STEP_PERCENT = 5  #: from one threshold to the next; our choice, the paper names only the first: 100 % of the capacity


def phases(problem: AllocationProblem, capacity: int) -> list[list[int]]:
    """Return groups of buffers in decreasing order of contention, ties in time order; every buffer is in one.

    At each threshold, a contiguous range of sections that reach it takes the buffers that overlap it and have no
    phase yet. No range goes over a border that no buffer crosses. The last threshold is 0.
    """
    pieces = pieces_of(problem)
    borders = crossings(problem).tolist()
    contention = problem.contention.tolist()
    found: list[list[int]] = []
    unassigned = dict.fromkeys(range(len(pieces)))
    for percent in range(100, -1, -STEP_PERCENT):
        for start, end in _ranges([100 * each >= percent * capacity for each in contention], borders):
            members = [i for i in unassigned if any(f < end and start < z for f, z in pieces[i])]
            for i in members:
                del unassigned[i]
            if members:
                found.append(members)
    return found


def _ranges(reached: list[bool], borders: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the contiguous ranges of sections that reach a threshold, cut where no buffer crosses the border."""
    start = None
    for s, is_in in enumerate([*reached, False]):
        if start is not None and (not is_in or borders[s] == 0):
            yield start, s
            start = None
        if is_in and start is None:
            start = s
