"""Greedy allocation: an order of the buffers, and a rule that places one after the other (TelaMalloc, Sec. 3.1).

Fixed buffers are placed first, everything honours alignment. Work: the overlaps, and a sort of each buffer's placed
neighbours. Named after others: BFC is start/bf, TFLite (Lee and Pisarchyk) size/ff, the paper's baseline
contention/sky.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

import numpy as np

from cocco.allocation.problem import AllocationProblem, Ints, has_kernel

PORTFOLIO = (
    ("start", "low"), ("size", "low"), ("size*lifetime^2", "low"), ("contention", "low"), ("size", "ff"),
    ("area", "ff"), ("long first", "bf"),
)  # fmt: skip
#: our choice: the four orders that do best with the rule that does best, two that do best on tensor dumps, and one for
#: long lists without structure
LONG_LIVED = 16  #: times the median lifetime: what lives longer is placed before all else, by "long first"; our choice


def greedy(problem: AllocationProblem, order: str, rule: str) -> Ints:
    """Return an address in granules for every buffer, of no more overlaps than there must be: none.

    order: one of ORDERS; rule: one of PLACING. There is no limit of the height. Fixed buffers must not collide.
    """
    address = np.full(len(problem.size), -1, dtype=np.int64)
    is_fixed = problem.fixed >= 0
    address[is_fixed] = problem.fixed[is_fixed]
    free = [i for i in sort_order(problem, order).tolist() if not is_fixed[i]]
    PLACING[rule](problem, free, address)
    return address


def sort_order(problem: AllocationProblem, order: str) -> Ints:
    """Return the buffers in this order, ties by index; all but "start" descend."""
    keys = ORDERS[order](problem)
    return np.lexsort([np.arange(len(problem.size)), *reversed([-np.asarray(key, dtype=object) for key in keys])])


def peak_contention(problem: AllocationProblem) -> Ints:
    """Return the largest contention of a section in which each buffer is live, in granules (Sec. 3.1)."""
    table = [problem.contention]  # table[k][s]: the largest of 2^k sections from s
    while 2 ** len(table) <= problem.sections:
        half = 2 ** (len(table) - 1)
        table.append(np.maximum(table[-1][:-half], table[-1][half:]))
    length = problem.piece_last - problem.piece_first
    level = np.frexp(length.astype(np.float64))[1] - 1
    pieces = np.zeros(len(length), dtype=np.int64)
    for k, row in enumerate(table):
        of_level = np.flatnonzero(level == k)
        first, last = problem.piece_first[of_level], problem.piece_last[of_level]
        pieces[of_level] = np.maximum(row[first], row[last - 2**k])
    return np.maximum.reduceat(pieces, problem.piece_starts[:-1]) if len(pieces) else pieces


def _paper_contention(problem: AllocationProblem) -> list[Ints]:
    return [peak_contention(problem), problem.alignment, _size_lifetime2(problem), problem.lifetime]


def _size_lifetime2(problem: AllocationProblem) -> Ints:
    """Return size * lifetime^2 in Python integers: it outgrows 64 bits."""
    lifetime = problem.lifetime.astype(object)
    found: Ints = problem.size.astype(object) * lifetime * lifetime
    return found


def _long_first(problem: AllocationProblem) -> list[Ints]:
    """Return keys that put long lives first, by start: they pack as intervals do. The rest fills in, largest first."""
    is_long = problem.lifetime > LONG_LIVED * np.median(problem.lifetime) if len(problem.size) else problem.lifetime > 0
    lower = np.array([buffer.lower for buffer in problem.buffers], dtype=np.int64)
    return [is_long.astype(np.int64), np.where(is_long, -lower, problem.size)]


ORDERS: dict[str, Callable[[AllocationProblem], list[Ints]]] = {
    "start": lambda problem: [np.array([-buffer.lower for buffer in problem.buffers], dtype=np.int64)],
    "size": lambda problem: [problem.size],
    "lifetime": lambda problem: [problem.lifetime],
    "area": lambda problem: [problem.size.astype(object) * problem.lifetime],
    "contention": _paper_contention,
    "size*lifetime^2": lambda problem: [_size_lifetime2(problem)],
    "overlaps": lambda problem: [np.diff(problem.starts)],
    "long first": _long_first,
}


def _skyline(problem: AllocationProblem, order: Iterable[int], address: Ints) -> None:
    """On top of everything placed that overlaps (Fig. 4)."""
    low = _raised_by_fixed(problem, address)
    for i in order:
        address[i] = low[i]
        _raise(problem, low, i, int(address[i]))


def _lowest(problem: AllocationProblem, order: Iterable[int], address: Ints) -> None:
    """Repeatedly the buffer whose skyline position is lowest, ties by the order: rows are filled (Fig. 4)."""
    low = _raised_by_fixed(problem, address)
    if has_kernel():
        from cocco.allocation.compiled import _search

        _search.fill_rows(problem, order, address, low)
    else:
        _fill_rows(problem, order, address, low)


def _fill_rows(problem: AllocationProblem, order: Iterable[int], address: Ints, low: Ints) -> None:
    """Place the lowest of the skyline `low` in turn; `_lowest.pxi` is the compiled twin.

    The heap may hold a position from before others were placed; such a buffer goes back in with what it has now.
    """
    heap = [(int(low[i]), rank, i) for rank, i in enumerate(order)]
    heapq.heapify(heap)
    while heap:
        at, rank, i = heap[0]
        if low[i] > at:
            heapq.heapreplace(heap, (int(low[i]), rank, i))
            continue
        heapq.heappop(heap)
        address[i] = at
        _raise(problem, low, i, at)


def _raised_by_fixed(problem: AllocationProblem, address: Ints) -> Ints:
    low = np.zeros(len(address), dtype=np.int64)
    for i in np.flatnonzero(address >= 0).tolist():
        _raise(problem, low, i, int(address[i]))
    return low


def _raise(problem: AllocationProblem, low: Ints, i: int, at: int) -> None:
    """Raise the skyline of all that overlap i to its aligned top."""
    near = problem.neighbours[problem.starts[i] : problem.starts[i + 1]]
    alignment = problem.alignment[near]
    top = at + problem.size[i]
    low[near] = np.maximum(low[near], -(-top // alignment) * alignment)


def first_fit(problem: AllocationProblem, order: Iterable[int], address: Ints) -> None:
    """The lowest gap that fits."""
    for i in order:
        starts, room = gaps_of(problem, i, address)
        address[i] = starts[np.argmax(room >= problem.size[i])]


def _best_fit(problem: AllocationProblem, order: Iterable[int], address: Ints) -> None:
    """The smallest gap that fits, the lowest of them; above everything only if there is none."""
    for i in order:
        starts, room = gaps_of(problem, i, address)
        room[room < problem.size[i]] = np.iinfo(np.int64).max
        address[i] = starts[np.argmin(room)] if room[:-1].min(initial=room[-1]) < room[-1] else starts[-1]


def gaps_of(problem: AllocationProblem, i: int, address: Ints) -> tuple[Ints, Ints]:
    """Return where the gaps between the placed neighbours of i start, aligned for it, and how large they are.

    Rising; the last gap has no end. Some may have no room, or less than none.
    """
    near = problem.neighbours[problem.starts[i] : problem.starts[i + 1]]
    near = near[address[near] >= 0]
    at = address[near]
    order = np.argsort(at, kind="stable")
    tops = np.maximum.accumulate((at + problem.size[near])[order])
    starts = np.concatenate([[0], tops])
    starts = -(-starts // problem.alignment[i]) * problem.alignment[i]
    ends = np.concatenate([at[order], [np.iinfo(np.int64).max]])
    return starts, ends - starts


PLACING: dict[str, Callable[[AllocationProblem, Iterable[int], Ints], None]] = {
    "sky": _skyline, "ff": first_fit, "bf": _best_fit, "low": _lowest,
}  # fmt: skip
